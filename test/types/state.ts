// Programs about budgets and memory in the form of users' code. Their types are guarantees, checked
// by the compiler.
import type { EvictionPolicy, MemoryEntry, MemoryStore } from "agentensemble";
import { Ensemble, MemoryScope, Task } from "agentensemble";
import { BudgetExceededError, budget, retry } from "agentensemble/resilience";

export async function runWithinBudget(): Promise<string> {
  const tasks = [Task.of("Research {topic}"), Task.of("Summarise")];
  const plugins = [
    retry({ maxAttempts: 4, baseDelayMs: 250 }),
    budget({ maxTokens: 50_000, onExceeded: "reject" }),
  ];
  try {
    const output = await new Ensemble({ model: "openai:gpt-5-mini", tasks, plugins }).run(
      { topic: "AI" },
      { timeoutMs: 60_000 },
    );
    const failed: number = output.metrics.ledger.filter((r) => r.outcome === "failed").length;
    return `${output.metrics.totalTokens} ${failed}`;
  } catch (error) {
    const over = BudgetExceededError.find(error);
    if (!over) throw error;
    const done: number | undefined = over.output?.completedTasks.length;
    return `${over.limit} ${done}`;
  }
}

/** A user's own store that uses only the types of the contract. */
class MapStore implements MemoryStore {
  readonly #scopes = new Map<string, MemoryEntry[]>();
  async store(scope: string, entry: MemoryEntry): Promise<void> {
    this.#scopes.set(scope, [...(this.#scopes.get(scope) ?? []), entry]);
  }
  async retrieve(scope: string, query: string, maxResults: number): Promise<MemoryEntry[]> {
    return (this.#scopes.get(scope) ?? [])
      .filter((e) => e.content.includes(query))
      .slice(-maxResults);
  }
  async evict(scope: string, policy: EvictionPolicy): Promise<void> {
    this.#scopes.set(scope, [...policy.apply(this.#scopes.get(scope) ?? [])]);
  }
  async clear(scope: string): Promise<void> {
    this.#scopes.delete(scope);
  }
}

export async function runWithMemory(): Promise<void> {
  const task = new Task({
    description: "Continue the research",
    memory: MemoryScope.of("research").keepLastEntries(20),
  });
  await new Ensemble({
    model: "openai:gpt-5-mini",
    tasks: [task],
    memoryStore: new MapStore(),
  }).run();
}
