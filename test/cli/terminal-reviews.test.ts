import { PassThrough } from "node:stream";
import { expect } from "chai";
import { Ensemble } from "../../src/ensemble/ensemble.js";
import { Review, ReviewDecision } from "../../src/contracts/review.js";
import { Task } from "../../src/contracts/task.js";
import { terminalReviews } from "../../src/cli/terminal-reviews.js";
import { showProgress } from "../../src/cli/progress.js";
import { ScriptedModel } from "../../src/plugins/testing/scripted-model.js";
import { review } from "../../src/plugins/review/gate/index.js";
import { reviewInbox } from "../../src/plugins/review/gate/review-inbox.js";
import { durable } from "../../src/plugins/durability/durable/index.js";
import { Journal } from "../../src/plugins/durability/shared/journals.js";
import { pause, until } from "../support/time.js";
import { painter } from "../../src/plugins/observability/console/terminal-text.js";

const reviewed = new Task({ description: "Write", review: Review.required("Good?") });

/** Runs a reviewed task while `typed` arrives at the terminal. */
async function answered(typed: string) {
  const input = new PassThrough();
  let written = "";
  const output = { write: (text: string): boolean => (written += text) !== "" };
  input.write(typed);
  await using ensemble = new Ensemble({
    tasks: [reviewed],
    model: new ScriptedModel([{ text: "draft", usage: { inputTokens: 1_000, outputTokens: 200 } }]),
    costConfiguration: { inputTokenRate: 0.001, outputTokenRate: 0.01, currency: "EUR" },
    plugins: [terminalReviews({ input, output })],
  });
  return { output: await ensemble.run({}, { throwOnError: false }), written };
}

describe("--review console", () => {
  it("answers reviews at the terminal, with the cost so far", async () => {
    const { output, written } = await answered("e\nbetter\n");
    expect(output.raw).to.equal("better");
    expect(written).to.include("  | Good?").and.include("So far: 1200 tokens, 3 EUR\n");
  });

  it("accepts a comment, and reports the terminal as the origin of the decision", async () => {
    const { output } = await answered("m\ntoo dear\nx\n");
    expect(output.exitReason).to.equal("USER_EXIT_EARLY");
    expect(output.trace.reviews?.map(({ by, comment }) => [by, comment])).to.deep.equal([
      ["terminal", "too dear"],
    ]);
  });

  it("withdraws the question if another user answered first", async () => {
    const inbox = reviewInbox();
    const input = new PassThrough();
    let written = "";
    const write = (text: string): boolean => {
      written += text;
      const [waiting] = inbox.pending();
      if (text.includes("[c] Continue") && waiting !== undefined)
        inbox.resolve(waiting.reviewId, ReviewDecision.edit("by page", { by: "page" }));
      return true;
    };
    await using ensemble = new Ensemble({
      tasks: [reviewed.with({ handler: () => "draft" })],
      plugins: [review({ store: inbox }), terminalReviews({ input, output: { write } })],
    });
    const { raw, trace } = await ensemble.run();
    expect([raw, trace.reviews?.[0]?.by]).to.deep.equal(["by page", "page"]);
    expect(written).to.include("(no longer asked)").and.not.include("not answered here");
    await until(() => input.listenerCount("data") === 0);
  });
});

describe("--review console with a store of several processes", () => {
  it("shows no questions of runs in other processes", async () => {
    const inbox = reviewInbox();
    const input = new PassThrough();
    let asked = 0;
    const write = (text: string): boolean => text.includes("[c] Continue") && ++asked > 0;
    const tasks = [reviewed.with({ handler: () => "draft" })];
    await using here = new Ensemble({
      tasks,
      plugins: [review({ store: inbox }), terminalReviews({ input, output: { write } })],
    });
    await using elsewhere = new Ensemble({ tasks, plugins: [review({ store: inbox })] });
    input.write("c\n");
    await here.run();
    const other = elsewhere.run();
    await until(() => inbox.pending().length > 0);
    const [waiting] = inbox.pending();
    inbox.resolve(waiting?.reviewId ?? "", ReviewDecision.edit("by page"));
    expect([(await other).raw, asked]).to.deep.equal(["by page", 1]);
  });

  it("shows the open question of a suspended run again", async () => {
    const journal = Journal.inMemory();
    const tasks = [
      new Task({ description: "x", handler: () => "draft", review: Review.of({ timeoutMs: 0 }) }),
    ];
    await using first = new Ensemble({
      tasks,
      plugins: [durable({ journal, suspendAfterMs: 0 })],
      on: () => undefined, // sees the warning that a review waits
    });
    const { exitReason } = await first.run({}, { runId: "a", throwOnError: false });
    const input = new PassThrough();
    const write = (text: string): boolean =>
      text.includes("[c] Continue") && input.write("e\nbetter\n");
    await using second = new Ensemble({
      tasks,
      plugins: [terminalReviews({ input, output: { write } }), durable({ journal })],
    });
    const { raw } = await second.run({}, { runId: "a" });
    expect([exitReason, raw]).to.deep.equal(["SUSPENDED", "better"]);
  });
});

describe("showProgress with a review", () => {
  /** The output when the user answered, and at the end. Another task ends before the answer. */
  async function shown(holdsWhileAsked: boolean): Promise<readonly [string, string]> {
    let written = "";
    let during = "";
    let finish: () => void = () => undefined;
    const quick = new Task({
      name: "quick",
      description: "Quick",
      handler: () => new Promise<string>((resolve) => (finish = () => resolve("done"))),
    });
    await using ensemble = new Ensemble({
      tasks: [quick, reviewed.with({ handler: () => "draft" })],
      workflow: "PARALLEL",
      reviewHandler: async () => {
        await pause(5);
        finish();
        await pause(20);
        during = written;
        return ReviewDecision.continue();
      },
    });
    const handle = ensemble.stream();
    const target = { write: (text: string) => (written += text) };
    const showing = showProgress(handle.events, target, painter(false), holdsWhileAsked);
    await Promise.all([showing, handle.output]);
    return [during, written];
  }

  it("holds its output back while a user types an answer, and writes it afterwards", async () => {
    const [during, written] = await shown(true);
    expect(during).to.not.include("done  quick");
    expect(written).to.include("done  quick");
    expect((await shown(false))[0]).to.include("done  quick");
  });
});
