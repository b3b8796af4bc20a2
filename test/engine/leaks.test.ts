import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  Agent,
  Ensemble,
  Kernel,
  MapReduceEnsemble,
  Task,
  Tokens,
  answer,
  definePlugin,
  tool,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { echo } from "../support/kernel-fixtures.js";
import { pause } from "../support/time.js";

/** The collector, which requires a flag. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void; // that is what the flag does
}

const collect = collector();

async function heapAfter(runs: number, run: () => Promise<unknown>): Promise<number> {
  for (let n = 0; n < runs; n++) await run();
  await pause(1);
  collect();
  return process.memoryUsage().heapUsed;
}

/**
 * Bytes that remain for each further run. A first half as many runs fill the permanent caches of V8
 * and the kernel.
 */
async function growth(runs: number, run: () => Promise<unknown>): Promise<number> {
  const before = await heapAfter(Math.ceil(runs / 2), run);
  return ((await heapAfter(runs, run)) - before) / runs;
}

/**
 * Resources that keep the process alive, including the timer of the test, which mocha sets when the
 * test waits.
 */
async function activeHandles(): Promise<string> {
  await pause(1);
  return process.getActiveResourcesInfo().sort().join();
}

/**
 * Handles that did not exist before. A handle that has ended since (a timer of an earlier test) is
 * not a leak.
 */
function leftOf(after: string, before: string): string[] {
  const known = before.split(",");
  return after.split(",").filter((name) => {
    const index = known.indexOf(name);
    if (index >= 0) known.splice(index, 1);
    return index < 0;
  });
}

describe("thousands of runs on one kernel", () => {
  it("keep the heap at a constant size and leave no open handle", async () => {
    const kernel = new Kernel();
    const add = tool({ name: "add", description: "Adds", timeoutMs: 1_000, execute: () => "2" });
    const model = (): ScriptedModel =>
      new ScriptedModel([
        { toolCalls: [{ name: "add", arguments: { input: "1" } }] },
        { text: "two", usage: { inputTokens: 1, outputTokens: 1 } },
      ]);
    const first = new Task({
      description: "Add {n}",
      agent: new Agent({ role: "Clerk", goal: "Add", tools: [add] }),
      timeoutMs: 60_000,
    });
    const ensemble = new Ensemble({
      kernel,
      tasks: [first, echo("second", [first])],
      listeners: [{ onTaskComplete: () => undefined }],
    });
    const controller = new AbortController(); // one for all runs, as in a server
    let n = 0;
    const run = async (): Promise<void> => {
      const chat = model();
      const output = await ensemble.run(
        { n: n++ },
        {
          timeoutMs: 60_000,
          signal: controller.signal,
          bindings: (bind) => void bind.single(Tokens.ChatModel).toConstantValue(chat),
        },
      );
      expect(output.raw).to.equal("second");
    };
    const handles = await activeHandles();
    expect(await growth(2_000, run)).to.be.lessThan(500);
    expect(leftOf(await activeHandles(), handles)).to.deep.equal([]);
    await kernel.dispose();
  });

  it("leave nothing after they fail, are cancelled or have listeners", async () => {
    const kernel = new Kernel();
    const never = new Promise<string>(() => undefined);
    const failing = new Ensemble({
      kernel,
      tasks: [
        new Task({
          description: "fails",
          handler: (): Promise<string> => Promise.reject(new Error("no")),
        }),
      ],
    });
    const stuck = new Ensemble({
      kernel,
      tasks: [new Task({ description: "stuck", handler: () => never })],
    });
    const streamed = new Ensemble({ kernel, tasks: [echo("x")] });
    const run = async (): Promise<void> => {
      await failing.run({}, { throwOnError: false });
      const handle = stuck.stream({}, { cancelGraceMs: 0, throwOnError: false });
      handle.cancel();
      await handle.output;
      const { events, output } = streamed.stream();
      for await (const { type } of events) if (type === "task_completed") break;
      await output;
    };
    const handles = await activeHandles();
    expect(await growth(2_000, run)).to.be.lessThan(500);
    expect(leftOf(await activeHandles(), handles)).to.deep.equal([]);
    await kernel.dispose();
  });
});

describe("a map-reduce whose tasks a plugin answers", () => {
  const ITEMS = 8_000;
  /** For the task, its place in the plan, its attempt, its output and its call. */
  const MOST_BYTES = 1_900;

  it("keeps little memory for each task", async () => {
    const agent = new Agent({ role: "Reader", goal: "Read" });
    let kept = Number.NaN;
    let asked = 0;
    const answering = definePlugin({
      name: "answering",
      apply: ({ hooks }) =>
        void hooks.beforeTask.tap({ name: "answering", lane: "answer" }, ({ task, taskId }) => {
          if (task.context.length > 0) return undefined;
          if (++asked === ITEMS) {
            collect();
            kept = process.memoryUsage().heapUsed;
          }
          const message = { role: "assistant", content: "" } as const;
          const usage = { inputTokens: asked, outputTokens: 7 };
          const response = { message, finishReason: "stop", usage } as const;
          const call = {
            provider: "p",
            modelId: "m",
            purpose: "map",
            iteration: 1,
            response,
          } as const;
          return answer({ raw: `Answer ${taskId}`, toolCallCount: 0, calls: [call] });
        }),
    });
    collect();
    const before = process.memoryUsage().heapUsed;
    await using ensemble = new MapReduceEnsemble({
      model: new ScriptedModel(() => ({ text: "merged" })),
      items: Array.from({ length: ITEMS }, (_, n) => n),
      chunkSize: 20,
      mapTask: (n) => new Task({ description: `Read ${n}`, agent }),
      reduceTask: (tasks) => new Task({ description: "Merge", context: tasks, agent }),
      maxConcurrency: 10,
      plugins: [answering],
    }).toEnsemble();
    await ensemble.run();
    expect((kept - before) / ITEMS).to.be.within(500, MOST_BYTES);
  });
});
