import { Ensemble, Task, definePlugin } from "agentensemble";
import { Journal, durable, once } from "agentensemble/durability";
import { expect } from "chai";
import { failure, keptEnsemble, modelOf, task } from "./kept-team.js";

describe("a run in a journal", () => {
  it("is resumed by its id with its inputs and tags, and repeats no paid call", async () => {
    const journal = Journal.inMemory();
    let fails: string | undefined = "two";
    const { model, calls } = modelOf(() => fails);
    const tasks = [task("one", { description: "Do one for {name}" }), task("two")];
    const options = { name: "team", model, tasks, costConfiguration: { inputTokenRate: 1, outputTokenRate: 1 } }; // prettier-ignore
    await using first = keptEnsemble(options, { journal });
    const inputs = { name: "Ann" };
    await first.run(inputs, { runId: "r", tags: { who: "ann" }, throwOnError: false });
    const failed = await journal.get("r");
    expect(failed).to.include({ status: "failed", ensemble: "team", finishedTasks: 1 });
    expect(failed?.result?.error?.code).to.equal("AE_TASK_EXECUTION");
    fails = undefined;
    const events: unknown[] = [];
    await using second = keptEnsemble({ ...options, on: (e) => events.push(e) }, { journal });
    const output = await second.resume("r");
    expect(output.raw).to.equal("done two");
    expect(calls).to.deep.equal(["one", "two"]);
    const saved = { llmCalls: 1, toolCalls: 0, tokens: 11, cost: 11, currency: "USD" };
    const resumed = events.find((e) => (e as { type: string }).type === "run_resumed");
    expect(resumed).to.deep.include({ execution: 2, finishedTasks: 1, saved });
    const record = await journal.get("r");
    expect(record).to.deep.include({ status: "completed", executions: 2, tags: { who: "ann" } });
    expect(record?.result).to.deep.include({ raw: "done two", saved });
    expect(output.metrics.saved).to.deep.equal(saved);
    const trace = JSON.parse(output.trace.toJson()) as { readonly metrics: { saved?: unknown } };
    expect(trace.metrics.saved).to.deep.equal(saved);
    expect(record?.result?.metrics).to.include({ totalTokens: 22, llmCallCount: 2, cost: 22 });
  });

  it("is refused with other inputs before any cost arises, and continues with its own", async () => {
    const journal = Journal.inMemory();
    const { model, calls } = modelOf();
    await using ensemble = keptEnsemble({ model, tasks: [task("one")] }, { journal });
    await ensemble.run({ a: 1 }, { runId: "r" });
    const error = await failure(ensemble.run({ a: 2 }, { runId: "r" }));
    expect(error).to.include({ code: "AE_VALIDATION" });
    expect(calls).to.deep.equal(["one"]);
    expect((await ensemble.run({ a: 1 }, { runId: "r" })).raw).to.equal("done one");
  });

  it("is not resumed without durable(), for an unknown id, or with inputs that JSON changes", async () => {
    const { model } = modelOf();
    await using plain = new Ensemble({ model, tasks: [task("one")] });
    expect(await failure(plain.resume("r"))).to.include({ code: "AE_VALIDATION" });
    const journal = Journal.inMemory();
    await using ensemble = keptEnsemble({ model, tasks: [task("one")] }, { journal });
    expect((await failure(ensemble.resume("gone"))).message).to.include("'gone'");
    const day = new Date(0);
    await ensemble.run({ day }, { runId: "r" });
    expect((await failure(ensemble.resume("r"))).message).to.include("JSON");
    expect((await ensemble.run({ day }, { runId: "r" })).raw).to.equal("done one");
  });

  it("returns its output after it is completed, with any id, and executes nothing", async () => {
    const id = "7d1e6a52-1f0c-4b1e-9a57-3c2b8f0d4e61";
    const journal = Journal.inMemory();
    const { model, calls } = modelOf();
    await using first = keptEnsemble({ model, tasks: [task("one")] }, { journal });
    await first.run({}, { runId: id });
    expect((await first.run({}, { runId: id })).raw).to.equal("done one");
    await using second = keptEnsemble({ model, tasks: [task("one"), task("two")] }, { journal });
    const error = await failure(second.run({}, { runId: id }));
    expect(error).to.include({ code: "AE_JOURNAL_MISMATCH" });
    expect(calls).to.deep.equal(["one"]);
    expect(await journal.get(id)).to.deep.include({ status: "completed", finishedTasks: 1 });
  });

  it("exports its trace if an earlier export has failed, without a model call", async () => {
    const journal = Journal.inMemory();
    const { model, calls } = modelOf();
    const exported: string[] = [];
    let isDown = true;
    const traceExporter = ({ ensembleId }: { readonly ensembleId: string }): void => {
      if (isDown) throw new Error("no collector");
      exported.push(ensembleId);
    };
    await using ensemble = keptEnsemble(
      { model, tasks: [task("one")], traceExporter },
      { journal },
    );
    await ensemble.run({}, { runId: "r" });
    isDown = false;
    expect((await ensemble.run({}, { runId: "r" })).raw).to.equal("done one");
    expect(exported).to.deep.equal(["r"]);
    expect(calls).to.deep.equal(["one"]);
  });

  it("returns its output to concurrent executions after it is completed, without costs", async () => {
    const journal = Journal.inMemory();
    const { model, calls } = modelOf();
    const tasks = [task("one"), task("two")];
    await using first = keptEnsemble({ model, tasks }, { journal });
    await first.run({}, { runId: "r" });
    let ended: () => void = () => undefined;
    const other = new Promise<void>((resolve) => (ended = resolve));
    const waits: unknown[] = [];
    const slow = definePlugin({
      name: "slow",
      apply({ hooks }) {
        hooks.beforeTask.tap({ name: "slow", lane: "policy" }, async ({ run }) => {
          if (waits.length === 0) waits.push(run);
          if (waits[0] === run) await other;
        });
      },
    });
    await using second = new Ensemble({ model, tasks, plugins: [durable({ journal }), slow] });
    const outputs = await Promise.all([
      second.run({}, { runId: "r" }),
      second.run({}, { runId: "r" }).finally(ended),
    ]);
    expect(outputs.map(({ raw }) => raw)).to.deep.equal(["done two", "done two"]);
    expect(calls).to.deep.equal(["one", "two"]);
  });

  for (const [what, id] of [
    ["control characters", "a\u0007b"],
    ["no character", ""],
    ["201 characters", "x".repeat(201)],
  ] as const)
    // prettier-ignore
    it(`has no id with ${what}`, async () => {
      const { model } = modelOf();
      await using ensemble = keptEnsemble({ model, tasks: [task("one")] }, { journal: Journal.inMemory() }); // prettier-ignore
      expect(await failure(ensemble.run({}, { runId: id }))).to.include({ code: "AE_VALIDATION" });
    });

  it("is refused by its name if it is sealed and there is no key", async () => {
    const journal = Journal.inMemory();
    const { model } = modelOf();
    const encryptionKey = Buffer.alloc(32, 7).toString("base64");
    const options = { model, tasks: [task("one")] };
    await using first = keptEnsemble(options, { journal, encryptionKey });
    await first.run({ name: "Ann" }, { runId: "r" });
    const plugin = durable({ journal });
    await using second = new Ensemble({ ...options, plugins: [plugin] });
    for (const call of [
      second.run({ name: "Ann" }, { runId: "r" }),
      second.resume("r"),
      plugin.runs.fork("r"),
      plugin.runs.settle("r", "k", "again"),
    ]) {
      const error = await failure(call);
      expect(error).to.include({ code: "AE_JOURNAL" });
      expect(error.hint).to.include("encryptionKey");
    }
    await using third = keptEnsemble(options, { journal, encryptionKey });
    expect((await third.resume("r")).raw).to.equal("done one");
    const input = { sealed: "a word of a user" };
    await first.run(input, { runId: "plain" });
    await second.run(input, { runId: "plain 2" });
    expect((await second.resume("plain 2")).raw).to.equal("done one");
  });

  it("requires the id of a run inside of a handler", async () => {
    const journal = Journal.inMemory();
    const { model, calls } = modelOf();
    const ids: (string | undefined)[] = [undefined, "00000000-0000-4000-8000-000000000000"];
    await using inner = keptEnsemble({ name: "inner", model, tasks: [task("deep")] }, { journal });
    const handler = new Task({
      name: "outer",
      description: "Runs another team",
      handler: async (ctx) => {
        const runId = ids.shift() ?? ctx.idempotencyKey;
        return (await inner.run({}, { parent: ctx, runId })).raw;
      },
    });
    await using outer = keptEnsemble({ model, tasks: [handler, task("last")] }, { journal });
    const output = await outer.run({}, { runId: "r" });
    expect(output.raw).to.equal("done last");
    expect((await journal.get("r/outer@1"))?.parentRunId).to.equal("r");
    const error = await failure(outer.run({}, { runId: "r2" }));
    expect(error.message).to.include("needs a runId");
    expect(error.hint).to.include("ctx.idempotencyKey");
    expect(calls).to.deep.equal(["deep", "last"]);
    const again = await outer.run({}, { runId: "r" });
    expect(again.metrics.llmCallCount).to.equal(output.metrics.llmCallCount);
  });
});

describe("once()", () => {
  it("executes its function without durable(), and refuses a repeated name with durable()", async () => {
    const handler = new Task({
      name: "t",
      description: "t",
      handler: async (ctx) => {
        const first = await once(ctx, "a", (key) => key.slice(ctx.run.id.length));
        return [first, await once(ctx, "a", () => "b")];
      },
    });
    expect((await Ensemble.run(handler)).taskOutputs[0]?.parsed).to.deep.equal(["/t@1/a", "b"]);
    await using kept = keptEnsemble({ tasks: [handler] }, { journal: Journal.inMemory() });
    const { error } = await kept.run({}, { runId: "r", throwOnError: false });
    expect(error?.message).to.include("'a' twice");
  });
});
