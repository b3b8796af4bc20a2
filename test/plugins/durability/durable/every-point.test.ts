// Each team ends before and after each write of its journal, and continues in another process.
import type { EnsembleOutput } from "agentensemble";
import { MemoryStore } from "agentensemble";
import { expect } from "chai";
import type { Death, Team } from "./crash.js";
import { Life, World, play } from "./crash.js";
import { SCENARIOS } from "./scenarios.js";

/** The values that must be equal for any number of ends of the process. */
function summaryOf({ taskOutputs, metrics, exitReason, raw, error }: EnsembleOutput): unknown {
  const { inputTokens, outputTokens, llmCallCount, toolCallCount, costEstimate } = metrics;
  const outputs = taskOutputs.map(({ taskId, raw: text, parsed }) => [taskId, text, parsed]);
  const totals = { inputTokens, outputTokens, llmCallCount, toolCallCount, costEstimate };
  return { exitReason, raw, error: error?.message, outputs, ...totals };
}

async function callsIn(world: World): Promise<number> {
  const entries = await world.journal.entries("r1");
  return entries.reduce((sum, { kind, value }) => {
    if (kind === "call") return sum + 1;
    const { failed = [] } = value as { readonly failed?: readonly unknown[] }; // of kind failed
    return kind === "failed" ? sum + failed.length : sum;
  }, 0);
}

/** The stored entries of the team. */
async function memoryOf(world: World): Promise<readonly string[]> {
  const store = world.outside("memory", () => MemoryStore.inMemory());
  return (await store.retrieve("facts", "", 1_000)).map(({ content }) => content);
}

/**
 * Ends the process at a write, and resumes the run. Returns whether the process died at this write.
 */
async function check(team: Team, death: Death, whole: World, expected: unknown): Promise<boolean> {
  const at = `${death.isWritten ? "after" : "before"} write ${death.write}`;
  const world = new World();
  const first = new Life(world, death);
  await play(team, first);
  if (!first.isDead) return false;
  const journaled = await callsIn(world);
  const paidBefore = world.paidCalls;
  const output = await play(team, new Life(world));
  expect(summaryOf(output), at).to.deep.equal(expected);
  expect(await memoryOf(world), at).to.deep.equal(await memoryOf(whole));
  expect(world.paidCalls - paidBefore, `calls made again ${at}`).to.equal(
    whole.paidCalls - journaled,
  );
  expect([...new Set(world.effects)].sort(), at).to.deep.equal([...whole.effects].sort());
  expect(world.effects.length - whole.effects.length, at).to.be.at.most(1); // what was in flight
  expect([...new Set(world.asked)].sort(), at).to.deep.equal([...whole.asked].sort());
  expect(world.asked.length - whole.asked.length, at).to.be.at.most(1);
  return true;
}

describe("a run that is resumed after the end of its process", () => {
  for (const [title, team] of Object.entries(SCENARIOS))
    it(`reaches the same end for every possible last write: ${title}`, async () => {
      const whole = new World();
      const life = new Life(whole);
      const output = await play(team, life);
      expect(output.exitReason, output.error?.message).to.be.oneOf([
        "COMPLETED",
        "USER_EXIT_EARLY",
      ]);
      const expected = summaryOf(output);
      let died = 0;
      for (let write = 1; write <= life.writes; write++)
        for (const isWritten of [false, true])
          if (await check(team, { write, isWritten }, whole, expected)) died++;
      expect(died).to.equal(life.writes * 2);
      const paid = whole.paidCalls;
      const again = await play(team, new Life(whole)); // the run is completed: no review is requested
      expect(summaryOf(again)).to.deep.equal(expected);
      expect(whole.paidCalls).to.equal(paid);
    });
});
