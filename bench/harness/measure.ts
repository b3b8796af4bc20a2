import type { Line, Scenario, Work, WorkOf } from "./scenario.js";

/**
 * CPU time in ms of one round of one side: long enough for the clock, short enough for many rounds.
 */
const ROUND_MS = 60;
const ROUNDS = 15;
const WARM_UP_MS = 1_000;
/**
 * The number of runs before work that waits for another process is measured. V8 compiles a function
 * that each run calls once only after some thousand runs. Before that, a round also measures the
 * compiler. `node --trace-opt` prints each compiled function.
 */
export const WARM_UP_RUNS = 3_000;

/**
 * Collects garbage. Must not be called between the rounds of a time measurement. In a full
 * collection without a run in progress, V8 discards the compiled code of every class without an
 * instance. The next rounds would then measure the compiler. Each side has a separate process: a
 * round collects only its own garbage.
 * @throws Error if node was started without `--expose-gc`.
 */
export function collectGarbage(): void {
  if (globalThis.gc === undefined)
    throw new Error(
      "Start node with --expose-gc (npm run bench does): the heap is collected before it is measured",
    );
  globalThis.gc();
}

/**
 * Returns the CPU time of the process in microseconds, including compilation and garbage
 * collection.
 */
function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

export async function repeat(times: number, work: Work): Promise<void> {
  for (let i = 0; i < times; i++) await work();
}

/** Returns the CPU time of `times` repetitions in microseconds. */
export async function cpuOf(times: number, work: Work): Promise<number> {
  const before = cpuMicros();
  await repeat(times, work);
  return cpuMicros() - before;
}

/** Returns the number of repetitions of compiled work in one round. */
export async function repetitions(work: Work): Promise<number> {
  let times = 1;
  for (let spent = 0; ;) {
    const micros = await cpuOf(times, work);
    spent += micros;
    if (spent >= WARM_UP_MS * 1_000)
      return Math.max(1, Math.round((times * ROUND_MS * 1_000) / micros));
    if (micros < ROUND_MS * 500) times *= 2;
  }
}

/**
 * Returns a scenario of one line. It measures CPU microseconds per unit of work. One run has
 * `units` units.
 */
export function cpuScenario({
  id,
  units,
  workOf,
  ...line
}: Line & { readonly id: string; readonly units: number; readonly workOf: WorkOf }): Scenario {
  return {
    id,
    lines: [line],
    rounds: ROUNDS,
    async prepare(side) {
      const work = workOf(side);
      collectGarbage();
      const times = await repetitions(work);
      return async () => [(await cpuOf(times, work)) / (times * units)];
    },
  };
}
