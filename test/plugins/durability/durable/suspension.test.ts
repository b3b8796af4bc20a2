import type { EnsembleEvent, EnsembleOptions } from "agentensemble";
import { AgentSynthesizer, Ensemble, Review, ReviewDecision, Task } from "agentensemble";
import { Journal, connectRuns, durable } from "agentensemble/durability";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { randomUUID } from "node:crypto";
import { POSTGRES_URL, needPostgres } from "../../../support/postgres.js";
import { pause } from "../../../support/time.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { keptEnsemble, modelOf, task } from "./kept-team.js";

describe("a run that waits for a review", () => {
  const reviewed = (name: string): Task => task(name, { review: Review.of({ timeoutMs: 0 }) });

  /** The first process requests the review, the second answers, the third continues. */
  const suspendAndResume = async (url: string): Promise<void> => {
    const { model, calls } = modelOf();
    const name = `team-${randomUUID()}`;
    const runId = `run of ${name}`;
    const tasks = [reviewed("one"), task("two"), task("three")];
    const options: EnsembleOptions = { name, model, workflow: "PARALLEL", tasks };
    await using first = keptEnsemble(options, { url, suspendAfterMs: 0 });
    const output = await first.run({}, { runId, throwOnError: false });
    expect([output.exitReason, output.error?.code]).to.deep.equal(["SUSPENDED", "AE_RUN_SUSPENDED"]); // prettier-ignore
    expect(calls.sort()).to.deep.equal(["one", "three", "two"]);
    await using runs = await connectRuns(url);
    const waiting = await runs.get(runId);
    expect(waiting).to.include({ status: "waiting" });
    const review = (await runs.reviews.pending()).find((asked) => asked.runId === runId);
    expect(waiting?.waitsFor).to.include(review?.reviewId).and.include("of agent");
    const edit = ReviewDecision.edit("better", { by: "ana" });
    const resolution = await runs.reviews.resolve(review?.reviewId ?? "", edit);
    expect(resolution.outcome).to.equal("resolved");
    const plugin = durable({ url, suspendAfterMs: 0 });
    await using _second = new Ensemble({ ...options, on: () => undefined, plugins: [plugin] });
    const [resumed] = await plugin.runs.resumeAll();
    const raws = resumed?.output?.taskOutputs.map(({ raw }) => raw);
    expect(raws).to.deep.equal(["better", "done two", "done three"]);
    expect(calls.length).to.equal(3);
    expect(await runs.delete(runId)).to.equal(true);
  };

  it("is suspended when nothing else is in progress, and continues after a decision in another process", () =>
    suspendAndResume(`file:${temporaryFolder()}`));

  it("is suspended and continues in PostgreSQL", async function () {
    await needPostgres(this);
    await suspendAndResume(POSTGRES_URL);
  });

  it("is not suspended while another branch works", async () => {
    const journal = Journal.inMemory();
    const { model } = modelOf();
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const slow = new Task({ name: "slow", description: "Slow", handler: async () => (await gate, "slow") }); // prettier-ignore
    const types: string[] = [];
    await using ensemble = keptEnsemble(
      { model, workflow: "PARALLEL", tasks: [reviewed("one"), slow], on: (e) => types.push(e.type) }, // prettier-ignore
      { journal, suspendAfterMs: 0 },
    );
    const running = ensemble.run({}, { runId: "r", throwOnError: false });
    while (!types.includes("review_requested")) await new Promise((resolve) => setTimeout(resolve, 1)); // prettier-ignore
    await pause(20);
    expect(types).not.to.include("run_suspended");
    open();
    expect((await running).exitReason).to.equal("SUSPENDED");
    expect(types.lastIndexOf("task_completed")).to.be.below(types.indexOf("run_suspended"));
  });

  it("is not suspended while a model creates the agent of another task", async () => {
    const journal = Journal.inMemory();
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const model = new ScriptedModel(async ({ messages }) => {
      if (JSON.stringify(messages).includes("bare task")) await gate;
      return "done";
    });
    const types: string[] = [];
    await using ensemble = keptEnsemble(
      {
        model,
        workflow: "PARALLEL",
        agentSynthesizer: AgentSynthesizer.llmBased(),
        tasks: [reviewed("one"), new Task({ name: "bare", description: "A bare task" })],
        on: (e) => types.push(e.type),
      },
      { journal, suspendAfterMs: 0 },
    );
    const running = ensemble.run({}, { runId: "r", throwOnError: false });
    while (!types.includes("review_requested")) await pause(1);
    await pause(20);
    expect(types).not.to.include("run_suspended");
    open();
    expect((await running).exitReason).to.equal("SUSPENDED");
  });

  it("leaves no open review when it is cancelled during its wait, or by its signal", async () => {
    const journal = Journal.inMemory();
    const { model } = modelOf();
    const tasks = [reviewed("one")];
    const { runs } = durable({ journal });
    await using left = keptEnsemble({ model, tasks }, { journal, suspendAfterMs: 0 });
    await left.run({}, { runId: "left", throwOnError: false });
    expect((await runs.reviews.pending()).length).to.equal(1);
    expect(await runs.cancel("left", "no need")).to.equal(true);
    expect(await runs.reviews.pending()).to.deep.equal([]);
    const stop = new AbortController();
    const on = ({ type }: EnsembleEvent): void => {
      if (type === "review_requested") setImmediate(() => stop.abort());
    };
    await using stopped = keptEnsemble({ model, tasks, on }, { journal });
    const o = { runId: "stopped", signal: stop.signal, throwOnError: false };
    expect((await stopped.run({}, o)).exitReason).to.equal("CANCELLED");
    expect(await runs.reviews.pending()).to.deep.equal([]);
    const again = await left.run({}, { runId: "stopped", throwOnError: false });
    expect(again.exitReason).to.equal("SUSPENDED");
    expect((await runs.reviews.pending()).map(({ runId }) => runId)).to.deep.equal(["stopped"]);
  });
});
