import type {
  ChatMessage,
  Clock,
  EnsembleEvent,
  EnsembleOptions,
  EnsembleOutput,
  ExecutionTrace,
  RunOptions,
} from "agentensemble";
import {
  Agent,
  Ensemble,
  Graph,
  Loop,
  MapReduceEnsemble,
  MemoryStore,
  ModelCallError,
  Phase,
  PhaseReview,
  Task,
  Tokens,
  tool,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { z } from "zod";

/** A fixed clock: a trace with it contains no real times. */
const stopped: Clock = { now: () => new Date("2026-01-02T03:04:05.000Z"), monotonicMs: () => 1000 };

const usage = { inputTokens: 100, outputTokens: 20, cachedInputTokens: 40, reasoningTokens: 5 };
const rates = {
  inputTokenRate: 0.000001,
  outputTokenRate: 0.000004,
  cachedInputTokenRate: 0.0000001,
};

/** Answers depend on the conversation: the first matching text decides. */
function model(
  answers: Readonly<Record<string, string | readonly [string, unknown] | Error>>,
): ScriptedModel {
  const failed = new Set<string>();
  const scripted = new ScriptedModel(({ messages }) => {
    const conversation = JSON.stringify(messages);
    for (const [text, answer] of Object.entries(answers)) {
      if (!conversation.includes(text) || failed.has(text)) continue;
      if (answer instanceof Error) {
        failed.add(text); // once
        return answer;
      }
      return typeof answer === "string"
        ? { text: answer, usage }
        : { toolCalls: [{ name: answer[0], arguments: answer[1] }], usage };
    }
    return { text: "Done.", usage };
  });
  return Object.assign(scripted, { capabilities: { retry: { maxAttempts: 2 } } });
}

const overloaded = new ModelCallError("overloaded", {
  provider: "scripted",
  modelId: "scripted",
  retryable: true,
  retryAfterMs: 1,
});
const agent = (role: string, more: object = {}): Agent =>
  new Agent({ role, goal: `Do the work of a ${role}`, ...more });
const lookUp = tool({
  name: "look_up",
  description: "Looks a word up",
  execute: async (word, { scope }) => {
    await scope.writeMemory("words", { content: word, storedAt: stopped.now() });
    return { word, pages: [1, 2] };
  },
});
const Facts = z.object({ facts: z.array(z.string()) });

/** One small ensemble for every workflow, with everything that a trace can show. */
const TEAMS: Readonly<Record<string, () => EnsembleOptions>> = {
  sequential: () => {
    const facts = new Task({
      name: "facts",
      description: "Collect facts about {topic}",
      agent: agent("Researcher", { tools: [lookUp] }),
      outputType: Facts,
    });
    const count = new Task({
      name: "count",
      description: "Count the facts",
      context: [facts],
      handler: (ctx) => ctx.getOutput(facts).parsed.facts.length,
    });
    const text = new Task({
      name: "text",
      description: "Write the text",
      context: [facts],
      agent: agent("Writer", { background: "Long years" }),
    });
    const answers = {
      "You are Writer": "Swifts sleep in the air.",
      pages: '{"facts": ["a", "b"]}',
      "You are Researcher": ["look_up", { input: "swift" }],
    } as const;
    return {
      model: model(answers),
      memoryStore: MemoryStore.inMemory(),
      tasks: [facts, count, text],
    };
  },
  parallel: () => {
    const source = new Task({ name: "source", description: "Find the source" });
    const left = new Task({ name: "left", description: "Take the left half", context: [source] });
    const right = new Task({
      name: "right",
      description: "Take the right half",
      context: [source],
    });
    const answers = { "right half": overloaded, "left half": "Left." };
    return {
      model: model(answers),
      workflow: "PARALLEL",
      tasks: [
        source,
        left,
        right,
        new Task({ name: "join", description: "Join", context: [left, right] }),
      ],
    };
  },
  hierarchical: () => {
    const turns = [
      [
        "delegateTask",
        { agentRole: "researcher", taskDescription: "Collect facts", taskNumber: 1 },
      ],
      ["delegateTask", { agentRole: "Nobody", taskDescription: "Print it" }],
    ] as const;
    const scripted = new ScriptedModel(({ messages }) => {
      if (isFor(messages, "Researcher")) return { text: "They sleep in the air.", usage };
      const call = turns[messages.filter(({ role }) => role === "assistant").length];
      return call === undefined
        ? { text: "It is done.", usage }
        : { toolCalls: [{ name: call[0], arguments: call[1] }], usage };
    });
    const facts = new Task({ name: "facts", description: "Collect facts about {topic}" });
    return {
      model: scripted,
      workflow: "HIERARCHICAL",
      agents: [agent("Researcher")],
      tasks: [facts],
    };
  },
  delegation: () => {
    const scripted = new ScriptedModel(({ messages }) => {
      if (isFor(messages, "Clerk")) return { text: "Room 12.", usage };
      const asked = messages.some(({ role }) => role === "tool");
      return asked
        ? { text: "Go to room 12.", usage }
        : {
            toolCalls: [
              {
                name: "delegate",
                arguments: { agentRole: "Clerk", taskDescription: "Which room?" },
              },
            ],
            usage,
          };
    });
    return {
      model: scripted,
      agents: [agent("Clerk")],
      tasks: [
        new Task({
          name: "way",
          description: "Show the way",
          agent: agent("Porter", { allowDelegation: true }),
        }),
      ],
    };
  },
  phases: () => {
    const memo = new Task({ name: "memo", description: "Write the memo", agent: agent("Author") });
    const review = new PhaseReview({
      task: new Task({ description: "Judge it", agent: agent("Judge") }),
      maxRetries: 1,
    });
    const answers = { "You are Judge": "APPROVE", "You are Author": "Build it." };
    return {
      model: model(answers),
      phases: [
        Phase.of("ground", new Task({ name: "dig", description: "Dig", handler: () => "dug" })),
        new Phase({ name: "memo", tasks: [memo], review }),
      ],
    };
  },
  loop: () => {
    const draft = new Task({ name: "draft", description: "Write a draft", agent: agent("Writer") });
    const score = new Task({
      name: "score",
      description: "Score it",
      context: [draft],
      handler: (ctx) => ctx.getOutput(draft).raw.length,
    });
    let drafts = 0;
    const scripted = new ScriptedModel(() => ({ text: "x".repeat(++drafts), usage }));
    return {
      model: scripted,
      loops: [
        new Loop({
          name: "polish",
          tasks: [draft, score],
          until: (it) => (it.getOutput(score)?.parsed ?? 0) >= 2,
          maxIterations: 3,
          memoryMode: "WINDOW",
          memoryWindowSize: 2,
        }),
      ],
    };
  },
  graph: () => {
    const states = {
      ask: new Task({ name: "ask", description: "Ask" }),
      answer: new Task({ name: "answer", description: "Answer" }),
    };
    const edges = [
      { from: "ask", to: "answer", when: () => true, label: "asked" },
      { from: "ask", to: "ask" },
      { from: "answer", to: Graph.END },
    ] as const;
    return { model: model({}), graph: new Graph({ name: "talk", states, start: "ask", edges }) };
  },
  failed: () => ({
    model: model({}),
    tasks: [
      new Task({ name: "fine", description: "Works" }),
      new Task({ name: "broken", description: "Breaks", handler: breaking }),
    ],
  }),
  cancelled: () => ({
    tasks: [
      new Task({ name: "before", description: "Begin", handler: () => "begun" }),
      waiting("first"),
    ],
  }),
  "timed-out": () => ({ tasks: [waiting("first")] }),
};

function isFor([system]: readonly ChatMessage[], role: string): boolean {
  return system?.role === "system" && system.content.startsWith(`You are ${role}`);
}

function breaking(): Promise<string> {
  return Promise.reject(new TypeError("it broke"));
}

function waiting(name: string): Task {
  const handler = ({ signal }: { readonly signal: AbortSignal }): Promise<string> =>
    new Promise((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }),
    );
  return new Task({ name, description: "Wait", handler });
}

/** Everything with a separate trace: the teams, and a map-reduce run. */
export const TRACED: readonly string[] = [...Object.keys(TEAMS), "map-reduce"];

function runOptionsOf(name: string, clock: Clock): RunOptions {
  let ids = 0;
  const options: RunOptions = {
    tags: { customer: "acme" },
    throwOnError: false,
    bindings: (bind) => {
      bind.single(Tokens.Clock).toConstantValue(clock);
      bind.single(Tokens.IdGenerator).toConstantValue({ next: () => `${name}-${++ids}` });
    },
  };
  return name === "timed-out" ? { ...options, timeoutMs: 20, cancelGraceMs: 10 } : options;
}

/** Runs one of {@link TRACED} with everything captured, with a fixed clock. */
async function outputOf(
  name: string,
  on?: (event: EnsembleEvent) => void,
  clock = stopped,
): Promise<EnsembleOutput> {
  const common = { captureMode: "STANDARD", costConfiguration: rates, on } as const;
  if (name === "map-reduce") {
    const reduceTask = (context: readonly Task[]): Task =>
      new Task({ description: "Merge", context });
    const mapTask = (n: number): Task =>
      new Task({ name: `item-${n}`, description: `Read ${n}`, agent: agent("Reader") });
    await using tree = new MapReduceEnsemble({
      ...common,
      model: model({}),
      items: [1, 2, 3],
      mapTask,
      reduceAgent: () => agent("Editor"),
      reduceTask,
      chunkSize: 2,
    });
    return await tree.run({ topic: "swifts" }, runOptionsOf(name, clock));
  }
  const options = TEAMS[name];
  if (options === undefined) throw new Error(`no team ${name}`);
  const controller = new AbortController();
  const onTaskStart = ({ taskId }: { readonly taskId: string }): void => {
    if (name === "cancelled" && taskId === "first") controller.abort();
  };
  await using ensemble = new Ensemble({ ...common, ...options(), onTaskStart });
  return await ensemble.run(
    { topic: "swifts" },
    { ...runOptionsOf(name, clock), signal: controller.signal },
  );
}

export async function traceOf(name: string): Promise<ExecutionTrace> {
  return (await outputOf(name)).trace;
}

/** The trace of a run and its events, by a clock of the caller. */
export async function runOf(
  name: string,
  clock: Clock,
  on: (event: EnsembleEvent) => void = () => undefined,
): Promise<{ readonly trace: ExecutionTrace; readonly events: readonly EnsembleEvent[] }> {
  const events: EnsembleEvent[] = [];
  const take = (event: EnsembleEvent): void => {
    events.push(event);
    on(event);
  };
  const { trace } = await outputOf(name, take, clock);
  return { trace, events };
}

/** The events of the same run. */
export async function eventsOf(name: string): Promise<readonly EnsembleEvent[]> {
  const events: EnsembleEvent[] = [];
  await outputOf(name, (event) => events.push(event));
  return events;
}
