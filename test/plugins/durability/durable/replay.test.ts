// A durable run that is recorded and replayed, with a review.
import { join } from "node:path";
import type { EnsembleOutput, Plugin } from "agentensemble";
import { Ensemble, Review, ReviewDecision } from "agentensemble";
import { Journal, durable } from "agentensemble/durability";
import { recordTo, replayFrom } from "agentensemble/replay";
import { expect } from "chai";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { modelOf, task } from "./kept-team.js";

interface Played {
  readonly output: EnsembleOutput;
  /** Executed model calls. */
  readonly calls: readonly string[];
}

/** Runs the team with these plugins. `decide` answers the review in the journal. */
async function play(
  plugins: readonly Plugin[],
  decide?: (reviewId: string) => unknown,
): Promise<Played> {
  const { model, calls } = modelOf();
  await using ensemble = new Ensemble({
    model,
    tasks: [task("one", { review: Review.of({ timeoutMs: 60_000 }) }), task("two")],
    plugins,
    on: () => undefined,
    onReviewRequested: ({ reviewId }) => void setImmediate(() => decide?.(reviewId)),
  });
  const output = await ensemble.run({}, { runId: "r", throwOnError: false });
  return { output, calls };
}

const textsOf = ({ error, taskOutputs }: EnsembleOutput): readonly string[] =>
  error === undefined ? taskOutputs.map(({ raw }) => raw) : [error.message];

describe("a replay of a run with a journal and a review", () => {
  for (const isFirst of [true, false])
    it(`calls no model, requests no review, and is journaled, with durable() ${isFirst ? "before" : "after"} the replay`, async () => {
      const file = join(temporaryFolder(), "recording.jsonl");
      const given = (journal: Journal, other: Plugin): readonly Plugin[] =>
        isFirst ? [durable({ journal }), other] : [other, durable({ journal })];
      const first = Journal.inMemory();
      const recorded = await play(given(first, recordTo(file)), (id) =>
        first.reviews.resolve(id, ReviewDecision.edit("better")),
      );
      expect(textsOf(recorded.output)).to.deep.equal(["better", "done two"]);
      const journal = Journal.inMemory();
      const replayed = await play(given(journal, replayFrom(file)));
      expect(textsOf(replayed.output)).to.deep.equal(["better", "done two"]);
      expect(replayed.calls).to.deep.equal([]);
      expect(await journal.reviews.pending()).to.deep.equal([]);
      expect(await journal.get("r")).to.include({ status: "completed", finishedTasks: 2 });
      const again = await play([durable({ journal })]); // without the recording
      expect(textsOf(again.output)).to.deep.equal(["better", "done two"]);
      expect(again.calls).to.deep.equal([]);
    });

  it("ends with an error that names the review of the suspension, and requests it with onMiss: live", async () => {
    const file = join(temporaryFolder(), "recording.jsonl");
    const suspended = (other: Plugin): readonly Plugin[] => [
      durable({ journal: Journal.inMemory(), suspendAfterMs: 0 }),
      other,
    ];
    const recorded = await play(suspended(recordTo(file)));
    expect(recorded.output.exitReason).to.equal("SUSPENDED");
    const replayed = await play(suspended(replayFrom(file)));
    expect(replayed.output.error?.code).to.equal("AE_RECORDING_MISMATCH");
    expect(replayed.output.error?.message).to.include("The review").and.include("task 'one'");
    const live = await play(suspended(replayFrom(file, { onMiss: "live" })));
    expect(live.output.exitReason).to.equal("SUSPENDED");
    expect([...replayed.calls, ...live.calls]).to.deep.equal([]);
  });
});
