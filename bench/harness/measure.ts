import type { Line, Scenario, Work, WorkOf } from "./scenario.js";

/** CPU time of one round of one side: long enough for the clock, short enough for many rounds. */
const ROUND_MS = 60;
const ROUNDS = 15;
const WARM_UP_MS = 1_000;
/**
 * How often a work that waits for something outside is done before it is measured. V8 compiles a function that runs once in each only after
 * some thousand runs; before, a round measures the compiler too (`node --trace-opt` prints each function that it compiles).
 */
export const WARM_UP_RUNS = 3_000;

/**
 * Collects garbage. Not between the rounds of a measurement of time: a full collection at a moment when no run is in flight makes V8 throw away
 * the compiled code of every class without a living instance, and the next rounds would measure the compiler. Each side has its own process,
 * so the garbage that a round finds is its own too.
 * @throws Error where node was started without `--expose-gc`.
 */
export function collectGarbage(): void {
  if (globalThis.gc === undefined)
    throw new Error(
      "Start node with --expose-gc (npm run bench does): the heap is collected before it is measured",
    );
  globalThis.gc();
}

/** CPU time of the whole process, compiling and collecting included, in microseconds. */
function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

export async function repeat(times: number, work: Work): Promise<void> {
  for (let i = 0; i < times; i++) await work();
}

/** CPU microseconds of `times` repetitions. */
export async function cpuOf(times: number, work: Work): Promise<number> {
  const before = cpuMicros();
  await repeat(times, work);
  return cpuMicros() - before;
}

/** How often a work fits into a round, once it is compiled. */
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

/** A scenario of one line, whose measure is CPU microseconds per unit of work; `units` of them are in one run. */
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
