// A custom journal: an object with the methods of the contract. This journal wraps another journal
// and counts the written entries. A journal in your own database has the same methods.
// journalContract of agentensemble/testing tests a journal.
// Run it: npm run example -- 56
import { Agent, Ensemble, Task } from "agentensemble";
import { Journal, durable } from "agentensemble/durability";
import { realOrScripted } from "./support/scripted.js";

/** Counts entries by kind, and passes every call to the other journal. */
function counted(inner: Journal): {
  readonly journal: Journal;
  readonly counts: Map<string, number>;
} {
  const counts = new Map<string, number>();
  const journal: Journal = {
    name: `${inner.name}, counted`,
    reviews: inner.reviews,
    claim: (request) => inner.claim(request),
    append: async (claim, entry) => {
      await inner.append(claim, entry);
      counts.set(entry.kind, (counts.get(entry.kind) ?? 0) + 1);
    },
    renew: (claim) => inner.renew(claim),
    release: (claim, end) => inner.release(claim, end),
    get: (runId) => inner.get(runId),
    list: (filter) => inner.list(filter),
    entries: (runId) => inner.entries(runId),
    create: (start, entries, waitsFor) => inner.create(start, entries, waitsFor),
    amend: (runId, entry) => inner.amend(runId, entry),
    cancel: (runId, reason) => inner.cancel(runId, reason),
    delete: (runId) => inner.delete(runId),
    close: () => inner.close(),
  };
  return { journal, counts };
}

const { model } = realOrScripted(() => "Bees make honey.");
const { journal, counts } = counted(Journal.inMemory());
const plugin = durable({ journal });
await using ensemble = new Ensemble({
  name: "bees",
  model,
  tasks: ["one", "two"].map(
    (name) =>
      new Task({
        name,
        description: `Write sentence ${name} on bees`,
        agent: new Agent({ role: "Writer", goal: "Write short and clear texts" }),
      }),
  ),
  plugins: [plugin],
});
await ensemble.run({}, { runId: "sentences" });
console.log(`Entries: ${[...counts].map(([kind, count]) => `${count} ${kind}`).join(", ")}`);

const [run] = (await plugin.runs.list({ ensemble: "bees" })).runs;
console.log(`Run '${run?.runId}' is ${run?.status}, with ${run?.finishedTasks} finished tasks`);
console.log(`Its result: ${run?.result?.raw}`);

const fork = await plugin.runs.fork("sentences", { from: "two" });
const { raw, metrics } = await plugin.runs.resume(fork);
console.log(`A fork from task 'two': ${raw} (${metrics.llmCallCount} calls, one of them made now)`);
