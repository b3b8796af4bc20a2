import type { EnsembleOutput, AgentEnsembleError } from "agentensemble";
import { Ensemble, Kernel, Task } from "agentensemble";
import { expect } from "chai";
import fc from "fast-check";
import { untilAborted } from "../../support/kernel-fixtures.js";
import { pause } from "../../support/time.js";

/** One task of a random graph: its dependencies, its turns of the event loop, and its end. */
interface Spec {
  readonly needs: readonly number[];
  readonly turns: number;
  readonly end: "ok" | "fail" | "cancel";
}
interface Schedule {
  readonly specs: readonly Spec[];
  readonly order: readonly number[];
  readonly strategy: "FAIL_FAST" | "CONTINUE_ON_ERROR";
  readonly limit: number | undefined;
}

const schedules: fc.Arbitrary<Schedule> = fc
  .array(
    fc.record({
      needs: fc.array(fc.nat(), { maxLength: 3 }),
      turns: fc.nat({ max: 4 }),
      end: fc.constantFrom("ok", "ok", "ok", "ok", "ok", "ok", "fail", "cancel"),
    }),
    { minLength: 1, maxLength: 14 },
  )
  .chain((drafts) => {
    const specs = drafts.map(({ needs, turns, end }, index): Spec => ({
      needs: index === 0 ? [] : [...new Set(needs.map((n) => n % index))],
      turns,
      end,
    }));
    return fc.record({
      specs: fc.constant(specs),
      order: fc.shuffledSubarray(
        specs.map((_, index) => index),
        { minLength: specs.length },
      ),
      strategy: fc.constantFrom("FAIL_FAST", "CONTINUE_ON_ERROR"),
      limit: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
    });
  });

/** The actual execution. */
interface Happened {
  readonly output: EnsembleOutput;
  readonly error: AgentEnsembleError | undefined;
  readonly started: readonly number[];
  readonly done: ReadonlySet<number>;
  readonly mistakes: readonly string[];
}

/**
 * The value of a task contains its number and the values of its dependencies. Any wrong order, loss
 * or mix-up changes it.
 */
const valueOf = (index: number, inputs: readonly string[]): string =>
  `${index}(${inputs.join(",")})`;

async function execute(
  kernel: Kernel,
  { specs, order, strategy, limit }: Schedule,
): Promise<Happened> {
  const controller = new AbortController();
  const started: number[] = [];
  const done = new Set<number>();
  const mistakes: string[] = [];
  let running = 0;
  let halted = false;
  const tasks: Task[] = [];
  specs.forEach(({ needs, turns, end }, index) => {
    const context = needs.flatMap((n) => tasks[n] ?? []);
    const handler = async ({
      contextOutputs,
      signal,
    }: {
      contextOutputs: readonly { raw: string }[];
      signal: AbortSignal;
    }): Promise<string> => {
      if (halted) mistakes.push(`${index} was started after the end`);
      for (const n of needs)
        if (!done.has(n)) mistakes.push(`${index} was started before ${n} was done`);
      started.push(index);
      if (++running > (limit ?? Infinity)) mistakes.push(`${running} at once`);
      try {
        for (let turn = 0; turn < turns; turn++)
          await Promise.race([pause(), untilAborted(signal)]);
        if (end === "fail") {
          throw new Error(`${index} fails`);
        }
        if (end === "cancel") {
          halted = true;
          controller.abort();
          await untilAborted(signal);
        }
        done.add(index);
        return valueOf(
          index,
          contextOutputs.map(({ raw }) => raw),
        );
      } finally {
        running--;
      }
    };
    tasks.push(new Task({ name: `t${index}`, description: `Task ${index}`, context, handler }));
  });
  let failed = false;
  const ensemble = new Ensemble({
    kernel,
    tasks: order.flatMap((n) => tasks[n] ?? []),
    workflow: "PARALLEL",
    parallelErrorStrategy: strategy,
    maxConcurrency: limit,
    onTaskFailed: () => void (failed ||= strategy === "FAIL_FAST"),
    onTaskStart: ({ taskId }) =>
      void (failed && mistakes.push(`${taskId} was started after a failure`)),
  });
  const output = await ensemble.run({}, { signal: controller.signal, throwOnError: false });
  if (running > 0) mistakes.push(`${running} still running at the end`);
  return { output, error: output.error, started, done, mistakes };
}

/**
 * The result of a sequential run of the same graph without an external end: values of successful
 * tasks.
 */
function expectedValues(specs: readonly Spec[]): ReadonlyMap<number, string> {
  const values = new Map<number, string>();
  specs.forEach(({ needs, end }, index) => {
    const inputs = needs.flatMap((n) => values.get(n) ?? []);
    if (end === "ok" && inputs.length === needs.length) values.set(index, valueOf(index, inputs));
  });
  return values;
}

function expectLikeSequential(
  { specs, order, strategy }: Schedule,
  { output, error, started, done, mistakes }: Happened,
): void {
  expect(mistakes).to.deep.equal([]);
  const expected = expectedValues(specs);
  const finished = new Map(
    output.taskOutputs.map(({ taskId, raw }) => [Number(taskId.slice(1)), raw]),
  );
  for (const [index, raw] of finished)
    expect(raw, `value of ${index}`).to.equal(expected.get(index));
  expect([...finished.keys()], "the order of the list").to.deep.equal(
    order.filter((index) => finished.has(index)),
  );
  for (const index of done)
    expect(finished.has(index), `${index} was done, and is lost`).to.equal(true);
  const ends = started.map((index) => specs[index]?.end);
  if (ends.includes("cancel") && error?.code === "AE_RUN_CANCELLED")
    expect(output.exitReason).to.equal("CANCELLED");
  else if (strategy === "CONTINUE_ON_ERROR" && !ends.includes("cancel"))
    expect([...finished.keys()].sort(), "everything that can be done").to.deep.equal(
      [...expected.keys()].sort(),
    );
  if (ends.every((end) => end === "ok"))
    expect(output).to.include({ exitReason: "COMPLETED", raw: expected.get(order.at(-1) ?? 0) });
  else
    expect(error?.code).to.be.oneOf(
      ends.includes("cancel")
        ? ["AE_RUN_CANCELLED", "AE_TASK_EXECUTION"]
        : strategy === "FAIL_FAST"
          ? ["AE_TASK_EXECUTION"]
          : ["AE_PARALLEL_EXECUTION"],
    );
}

describe("PARALLEL against a sequential model", () => {
  it("yields the same values under random delays, failures and cancellations, and respects all edges and limits", async () => {
    const kernel = new Kernel();
    try {
      await fc.assert(
        fc.asyncProperty(schedules, async (schedule) =>
          expectLikeSequential(schedule, await execute(kernel, schedule)),
        ),
        { numRuns: 200 },
      );
    } finally {
      await kernel.dispose();
    }
  });
});
