import { recordTo, replayFrom } from "agentensemble/replay";
import { expect } from "chai";
import { join } from "node:path";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { SHAPES, chanceOf, fuzzRange, teamOf } from "../../support/fuzzed-teams.js";
import { play, withoutDurations } from "./record-and-replay.js";

const shapes = Object.keys(SHAPES);
const { first, runs } = fuzzRange(42);
const LONGEST_MS = 8;

/** Records a team and replays it with other durations. */
async function roundTrip(seed: number): Promise<void> {
  const shape = shapes[seed % shapes.length] ?? "";
  const folder = temporaryFolder();
  const file = join(folder, "run.jsonl");
  const make = (chanceSeed: number, stores: string) =>
    teamOf(seed, shape, chanceOf(chanceSeed, LONGEST_MS), join(folder, stores));
  const live = make(seed * 3, "live");
  const recorded = await play({ ...live.options, captureMode: "STANDARD" }, [recordTo(file)]);
  for (const n of [1, 2]) {
    const again = make(seed * 3 + n, `replay-${n}`);
    const replay = await play({ ...again.options, captureMode: "STANDARD" }, [
      replayFrom(file, { onUnused: "fail" }),
    ]);
    const where = `${shape}, FUZZ_SEED=${seed}, replay ${n}`;
    expect(replay.error?.message, where).to.equal(recorded.error?.message);
    expect(replay.output.raw, where).to.equal(recorded.output.raw);
    expect(withoutDurations(replay.output.trace.toJson()), where).to.deep.equal(
      withoutDurations(recorded.output.trace.toJson()),
    );
    expect(again.asked(), where).to.equal(0);
  }
}

describe("record and replay of random teams, with different durations of work in each execution", () => {
  for (const [index, shape] of shapes.entries())
    it(`repeats outputs, prompts and the order of records: ${shape}`, async () => {
      for (let seed = first; seed < first + runs; seed++)
        if (seed % shapes.length === index) await roundTrip(seed);
    }).timeout(600_000);
});
