import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { Agent, Ensemble, Task, type EnsembleOptions, type Plugin } from "agentensemble";
import { Journal, durable } from "agentensemble/durability";
import { ScriptedModel } from "agentensemble/testing";
import { until } from "../../../support/time.js";
import { RunFeed } from "../../../../src/plugins/dashboard/feed/run-feed.js";

/** A plugin that reports the runs of its kernels to a feed. */
function feeding(feed: RunFeed): Plugin {
  return {
    name: "feeding",
    apply: ({ events }) => {
      feed.attach(events);
    },
  };
}

function team(feed: RunFeed, more: Partial<EnsembleOptions> = {}): Ensemble {
  return new Ensemble({
    name: "team",
    model: new ScriptedModel(() => ({ text: "Two words." })),
    tasks: [Task.of("Write")],
    plugins: [feeding(feed)],
    ...more,
  });
}

describe("feed of runs", () => {
  it("contains the runs of several kernels, the newest first, and encodes nothing without a reader", async () => {
    const feed = new RunFeed();
    await team(feed, { name: "one" }).run();
    await team(feed, { name: "two" }).run();
    expect(feed.logs.map(({ summary }) => [summary.ensemble, summary.state])).to.deep.equal([
      ["two", "done"],
      ["one", "done"],
    ]);
    expect(feed.logs.map(({ encoded }) => encoded)).to.deep.equal([0, 0]);
    expect(feed.logs[0]?.n).to.be.above(4);
  });

  it("drops ended runs beyond its limit, oldest first, and never a run in progress", async () => {
    const feed = new RunFeed({ maxRuns: 2 });
    const gone: string[] = [];
    feed.listen({ onRemoved: ({ summary }) => gone.push(summary.ensemble) });
    let finish = (): void => undefined;
    const held = new Promise<string>((resolve) => (finish = () => resolve("done")));
    const waiting = team(feed, {
      name: "waiting",
      tasks: [new Task({ description: "Wait", handler: () => held })],
    }).run();
    for (const name of ["a", "b", "c"]) await team(feed, { name }).run();
    expect(gone).to.deep.equal(["a", "b"]);
    expect(feed.logs.map(({ summary }) => summary.ensemble)).to.deep.equal(["c", "waiting"]);
    finish();
    await waiting;
    expect(feed.remove(feed.logs.at(-1)?.runId ?? "")).to.equal(true);
    expect(feed.remove("unknown")).to.equal(false);
  });

  it("keeps the state of a run in progress if its second execution is refused", async () => {
    const feed = new RunFeed();
    let finish = (): void => undefined;
    const held = new Promise<string>((resolve) => (finish = () => resolve("done")));
    const runs = team(feed, {
      tasks: [new Task({ description: "Wait", handler: () => held })],
      plugins: [feeding(feed), durable({ journal: Journal.inMemory(), leaseMs: 200 })],
    });
    const first = runs.run({}, { runId: "r" });
    await until(() => feed.get("r")?.summary.state === "running");
    const second = await runs.run({}, { runId: "r", throwOnError: false });
    expect(second.error?.code).to.equal("AE_RUN_IN_USE");
    expect(feed.get("r")?.summary.state).to.equal("running");
    finish();
    await first;
    expect(feed.get("r")?.summary.state).to.equal("done");
  });

  it("keeps the heap size constant over 1,000 runs", async () => {
    const feed = new RunFeed({ maxRuns: 20 });
    const tasks = Array.from(
      { length: 5 },
      (_, i) => new Task({ description: `Do ${i}`, handler: () => "done" }),
    );
    const runs = team(feed, { tasks });
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void; // the flag makes it available
    const heapAfter = async (count: number): Promise<number> => {
      for (let i = 0; i < count; i++) await runs.run();
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = await heapAfter(1_000); // V8 has compiled the code
    expect((await heapAfter(1_000)) - before).to.be.below(1_000 * 500); // a stored run has 10 kB and more
  });

  it("changes no run when a listener throws, warns once and calls the other listeners", async () => {
    const feed = new RunFeed();
    const warnings: string[] = [];
    const onWarning = ({ message }: Error): void => void warnings.push(message);
    process.on("warning", onWarning);
    let seen = 0;
    feed.listen({
      onEntry: () => {
        throw new Error("a bad client");
      },
    });
    feed.listen({ onEntry: () => seen++ });
    const output = await team(feed).run();
    await new Promise(setImmediate);
    process.off("warning", onWarning);
    expect(output.isComplete).to.equal(true);
    expect(seen).to.equal((feed.logs[0]?.n ?? 0) + 1);
    expect(warnings.filter((text) => text.includes("a bad client"))).to.have.lengthOf(1);
    expect(feed.logs[0]?.summary.state).to.equal("done");
  });

  it("requests streamed models only while a task is watched", async () => {
    const feed = new RunFeed();
    let tokens = 0;
    feed.listen({ onToken: () => tokens++ });
    const ensemble = team(feed);
    await ensemble.run();
    expect(tokens).to.equal(0);
    const unwatch = feed.watch();
    await ensemble.run();
    const watched = tokens;
    expect(watched).to.be.above(0);
    unwatch();
    unwatch();
    await ensemble.run();
    expect(tokens).to.equal(watched);
  });

  it("always or never requests streaming if an option sets this", async () => {
    const counts = [];
    for (const tokens of [true, false] as const) {
      const feed = new RunFeed({ tokens });
      let count = 0;
      feed.listen({ onToken: () => count++ });
      feed.watch();
      await team(feed).run();
      counts.push(count > 0);
    }
    expect(counts).to.deep.equal([true, false]);
  });

  it("passes on conversations while a listener requests them, and keeps them out of the log", async () => {
    const feed = new RunFeed();
    const ensemble = team(feed);
    let calls = 0;
    const stop = feed.listen({ onMessages: (_log, { messages }) => (calls += messages.length) });
    await ensemble.run();
    expect(calls).to.be.above(1);
    const { n } = feed.logs[0] ?? { n: -1 };
    stop();
    calls = 0;
    await ensemble.run();
    expect(calls).to.equal(0);
    expect(feed.logs[0]?.n).to.equal(n);
  });

  it("adds warnings to the log of a run, and ignores runs whose start it did not receive", async () => {
    const feed = new RunFeed();
    const agent = new Agent({ role: "Writer", goal: "Write" });
    await team(feed, { tasks: [new Task({ description: "Write", agent })] }).run();
    const [log] = feed.logs;
    const before = log?.n ?? -1;
    feed.warn(log?.runId ?? "", "the store failed", "2026-01-02T03:04:05.000Z");
    feed.warn("unknown", "lost", "2026-01-02T03:04:05.000Z");
    expect(feed.logs).to.have.lengthOf(1);
    expect(log?.entry(before + 1, "slim")).to.include({ message: "the store failed" });
  });
});
