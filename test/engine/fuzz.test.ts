import type { EnsembleHooks, Plugin } from "agentensemble";
import { Ensemble, RunCancelledError, answer, definePlugin, reject } from "agentensemble";
import { expect } from "chai";
import { join } from "node:path";
import { SHAPES, chanceOf, fuzzRange, randomOf, teamOf } from "../support/fuzzed-teams.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { pause, until } from "../support/time.js";

const shapes = Object.keys(SHAPES);
const LONGEST_MS = 6;

/** The hooks of each step, and the name of the step in both. */
const PAIRS: Readonly<
  Record<string, readonly [keyof EnsembleHooks, keyof EnsembleHooks, (call: never) => string]>
> = {
  run: ["beforeRun", "afterRun", ({ run }: { run: { id: string } }) => run.id],
  task: ["beforeTask", "afterTask", (c: { taskId: string; attempt: number }) => `${c.taskId}@${c.attempt}`], // prettier-ignore
  call: ["beforeLlmCall", "afterLlmCall", (c: { taskId: string; taskAttempt: number; purpose: string; iteration: number; attempt: number }) => `${c.taskId}@${c.taskAttempt}/${c.purpose}/${c.iteration}#${c.attempt}`], // prettier-ignore
  tool: ["beforeToolCall", "afterToolCall", (c: { idempotencyKey: string }) => c.idempotencyKey],
  delegation: ["beforeDelegation", "afterDelegation", (c: { identity: string }) => c.identity],
  write: ["beforeMemoryWrite", "afterMemoryWrite", (c: { taskId: string; attempt: number; scope: string }) => `${c.taskId}@${c.attempt}/${c.scope}`], // prettier-ignore
};

type AnyHook = { tap(options: object, fn: (call: never) => unknown): void };

/** Counts open steps by hook and name. Throws if an after hook fires without its before hook. */
function counting(open: Map<string, number>, faults: string[]): Plugin {
  return definePlugin({
    name: "counting",
    apply({ hooks }) {
      for (const [step, [before, after, nameOf]] of Object.entries(PAIRS)) {
        const lane = step === "run" ? "policy" : "transform";
        (hooks[before] as AnyHook).tap({ name: "count", lane, order: "pre" }, (call) => {
          const name = `${step} ${nameOf(call)}`;
          open.set(name, (open.get(name) ?? 0) + 1);
        });
        (hooks[after] as AnyHook).tap(
          { name: "count", lane: "transform", order: "pre" },
          (call) => {
            const name = `${step} ${nameOf(call)}`;
            const left = (open.get(name) ?? 0) - 1;
            if (left < 0) faults.push(`${name} ended more often than it began`);
            if (left === 0) open.delete(name);
            else open.set(name, left);
          },
        );
      }
    },
  });
}

/** Taps that refuse, throw, answer, stop and cancel at random. */
function disturbing(seed: number): Plugin {
  const random = randomOf(seed);
  const strike = (call: { run: { stop(e: Error): void; cancel(e: Error): void } }): unknown => {
    const roll = random();
    if (roll < 0.02) throw new Error("a tap broke");
    if (roll < 0.03) call.run.stop(new RunCancelledError("stopped by a tap"));
    if (roll < 0.04) call.run.cancel(new RunCancelledError("cancelled by a tap"));
    return roll > 0.97 ? reject("refused by a tap") : undefined;
  };
  return definePlugin({
    name: "disturbing",
    apply({ hooks }) {
      for (const [step, [before, after]] of Object.entries(PAIRS)) {
        if (step === "run") continue;
        (hooks[before] as AnyHook).tap({ name: "strike" }, strike);
        (hooks[after] as AnyHook).tap(
          { name: "strike", lane: step === "write" ? "commit" : "policy" },
          (call: never) => {
            // prettier-ignore
            const verdict = strike(call);
            return step === "write" ? undefined : verdict;
          },
        );
      }
      hooks.beforeTask.tap({ name: "answer", lane: "answer" }, () =>
        random() < 0.05 ? answer({ raw: "answered by a tap" }) : undefined,
      );
    },
  });
}

describe("random teams", () => {
  const { first, runs } = fuzzRange(56);
  for (const [index, shape] of shapes.entries()) {
    const seeds = Array.from({ length: runs }, (_, n) => first + n).filter(
      (seed) => seed % shapes.length === index,
    );

    it(`fire each after hook exactly once for its before hook, with any behaviour of the taps: ${shape}`, async () => {
      for (const seed of seeds) {
        const open = new Map<string, number>();
        const faults: string[] = [];
        const { options } = teamOf(seed, shape, chanceOf(seed, LONGEST_MS), temporaryFolder());
        await using ensemble = new Ensemble({
          ...options,
          on: () => undefined, // warnings have a listener
          plugins: [counting(open, faults), disturbing(seed)],
        });
        await ensemble.run({}, { throwOnError: false, cancelGraceMs: 2_000 });
        expect([...open.keys(), ...faults], `FUZZ_SEED=${seed}`).to.deep.equal([]);
      }
    }).timeout(600_000);

    it(`begin no work after a cancellation, settle, and leave no timer: ${shape}`, async () => {
      for (const seed of seeds) {
        const before = await timers();
        const late: string[] = [];
        let isOver = false;
        const { options } = teamOf(seed, shape, chanceOf(seed, LONGEST_MS), join(temporaryFolder(), "s")); // prettier-ignore
        const controller = new AbortController();
        const watch = definePlugin({
          name: "watch",
          apply({ hooks }) {
            hooks.beforeTask.tap(({ taskId }) => void (isOver && late.push(`task ${taskId}`)));
            hooks.beforeLlmCall.tap(({ taskId }) => void (isOver && late.push(`call ${taskId}`)));
            hooks.beforeToolCall.tap(({ taskId }) => void (isOver && late.push(`tool ${taskId}`)));
            hooks.beforeMemoryWrite.tap(({ taskId }) => void (isOver && late.push(`write ${taskId}`))); // prettier-ignore
          },
        });
        const ensemble = new Ensemble({ ...options, on: () => undefined, plugins: [watch] });
        const ending = ensemble.run({}, { signal: controller.signal, throwOnError: false });
        await pause(Math.floor(randomOf(seed)() * 25));
        isOver = true;
        controller.abort();
        const { exitReason, isComplete } = await ending;
        expect(isComplete || exitReason === "CANCELLED", `FUZZ_SEED=${seed}`).to.equal(true);
        expect(late, `FUZZ_SEED=${seed}`).to.deep.equal([]);
        await ensemble.dispose();
        await until(
          async () => (await timers()) <= before,
          () => `FUZZ_SEED=${seed} left a timer`,
          5_000,
        );
      }
    }).timeout(600_000);
  }
});

/** The number of active timers, read outside of a timer's callback, which counts as one. */
async function timers(): Promise<number> {
  await new Promise((resolve) => void setImmediate(resolve));
  return process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
}
