import { expect } from "chai";
import { expectTypeOf } from "expect-type";
import { z } from "zod";
import type { MapReduceOptions } from "../../src/map-reduce/options.js";
import type { AnyTask } from "../../src/contracts/task.js";
import { Agent } from "../../src/contracts/agent.js";
import {
  RunCancelledError,
  TaskExecutionError,
  ValidationError,
} from "../../src/contracts/errors.js";
import { Task } from "../../src/contracts/task.js";
import { Kernel } from "../../src/kernel/kernel.js";
import { MapReduceEnsemble } from "../../src/map-reduce/map-reduce-ensemble.js";
import { standardPlugins } from "../../src/ensemble/standard-plugins.js";
import { ScriptedModel } from "../../src/testing.js";
import { rejection } from "../support/rejection.js";

const merge = (tasks: readonly AnyTask[]): Task =>
  new Task({
    description: "Merge",
    context: tasks,
    handler: ({ contextOutputs }) => contextOutputs.map(({ raw }) => raw).join("+"),
  });
const echo = (item: string): Task => new Task({ description: `Read ${item}`, handler: () => item });
const items = (count: number): string[] => Array.from({ length: count }, (_, i) => `i${i + 1}`);

function mapReduce(
  changes: Partial<MapReduceOptions<string, string>> = {},
): MapReduceEnsemble<string> {
  return new MapReduceEnsemble<string>({
    items: items(4),
    mapTask: echo,
    reduceTask: merge,
    on: () => undefined,
    ...changes,
  });
}

/** An adaptive map-reduce whose tokens are the lengths of the texts, and the warnings of its runs. */
function adaptive(changes: Partial<MapReduceOptions<string, string>> = {}) {
  const warnings: string[] = [];
  const on: MapReduceOptions<string, string>["on"] = (event) =>
    void (event.type === "run_warning" && warnings.push(event.message));
  return {
    summary: mapReduce({
      targetTokenBudget: 10,
      tokenEstimator: (text) => text.length,
      on,
      ...changes,
    }),
    warnings,
  };
}

const countsOf = (summary: MapReduceEnsemble<string>): number[] => {
  const levels: number[] = [];
  for (const { mapReduceLevel = -1 } of summary.toEnsemble().toDag().tasks)
    levels[mapReduceLevel] = (levels[mapReduceLevel] ?? 0) + 1;
  return levels;
};

describe("MapReduceEnsemble", () => {
  describe("in static mode", () => {
    for (const [count, chunkSize, levels] of [
      [1, 5, [1, 1]],
      [5, 5, [5, 1]],
      [4, 3, [4, 2, 1]],
      [9, 3, [9, 3, 1]],
      [26, 5, [26, 6, 2, 1]],
    ] as const) {
      it(`creates levels of ${levels.join(", ")} tasks from ${count} items in chunks of ${chunkSize}`, () => {
        expect(countsOf(mapReduce({ items: items(count), chunkSize }))).to.deep.equal(levels);
      });
    }

    it("uses chunks of five by default", () => {
      expect(countsOf(mapReduce({ items: items(6) }))).to.deep.equal([6, 2, 1]);
    });

    it("runs the complete tree as one PARALLEL ensemble, with outputs in the order of the tree", async () => {
      const summary = mapReduce({ items: items(4), chunkSize: 3 });
      const output = await summary.run();
      expect(output.parsed).to.equal("i1+i2+i3+i4");
      expect(output.taskOutputs.map(({ taskId }) => taskId)).to.deep.equal([
        "map-1",
        "map-2",
        "map-3",
        "map-4",
        "reduce-1-1",
        "reduce-1-2",
        "final-reduce",
      ]);
      expect(output.trace.workflow).to.equal("PARALLEL");
      expect(summary.isAdaptiveMode).to.equal(false);
      expect((await summary.toEnsemble().run()).raw).to.equal(output.raw);
    });

    it("marks tasks and levels in the trace", async () => {
      const { trace } = await mapReduce({ items: items(4), chunkSize: 3 }).run();
      expect(
        trace.taskTraces.map(({ nodeType, mapReduceLevel }) => `${nodeType} ${mapReduceLevel}`),
      ).to.deep.equal([
        "map 0",
        "map 0",
        "map 0",
        "map 0",
        "reduce 1",
        "reduce 1",
        "final-reduce 2",
      ]);
      expect(
        trace.mapReduceLevels?.map(({ level, taskCount, workflow }) => [
          level,
          taskCount,
          workflow,
        ]),
      ).to.deep.equal([
        [0, 4, "PARALLEL"],
        [1, 2, "PARALLEL"],
        [2, 1, "PARALLEL"],
      ]);
      const json = JSON.parse(trace.toJson()) as {
        readonly mapReduceLevels: readonly object[];
        readonly taskTraces: readonly object[];
      };
      expect(json.mapReduceLevels[2])
        .to.include({ level: 2, taskCount: 1 })
        .and.have.property("duration")
        .that.matches(/^PT/);
      expect(json.taskTraces[0]).to.include({ nodeType: "map", mapReduceLevel: 0 });
    });

    it("fails at the first failure or finishes all possible tasks, by its error strategy", async () => {
      const failing = (item: string): Task =>
        new Task({
          description: item,
          handler: () => (item === "i2" ? Promise.reject(new Error("broken")) : item),
        });
      expect(
        TaskExecutionError.isInstance(await rejection(mapReduce({ mapTask: failing }).run())),
      ).to.equal(true);
      const error = await rejection(
        mapReduce({ mapTask: failing, parallelErrorStrategy: "CONTINUE_ON_ERROR" }).run(),
      );
      expect(error).to.include({ code: "AE_PARALLEL_EXECUTION", completedCount: 3 });
    });

    it("preserves the type and the schema of the final reduce's value", async () => {
      const Summary = z.object({ count: z.number() });
      const summary = new MapReduceEnsemble({
        items: [1, 2],
        mapTask: (n) => new Task({ description: "n", handler: () => n * 2 }),
        reduceTask: (tasks) =>
          new Task({
            description: "sum",
            context: tasks,
            outputType: Summary,
            handler: ({ contextOutputs }) => ({ count: contextOutputs.length }),
          }),
      });
      const output = await summary.run();
      expectTypeOf(output.parsed).toEqualTypeOf<{ count: number }>();
      expect(output.parsed.count).to.equal(2);
    });

    it("passes its agent to each function", async () => {
      const model = new ScriptedModel(() => "text");
      const summary = mapReduce({
        model,
        items: ["a", "b"],
        mapAgent: (item) => new Agent({ role: `Reader of ${item}`, goal: "Read" }),
        mapTask: (item, agent) => new Task({ description: item, agent }),
        reduceAgent: () => new Agent({ role: "Editor", goal: "Edit" }),
        reduceTask: (tasks, agent) => new Task({ description: "Merge", agent, context: tasks }),
      });
      expect((await summary.run()).taskOutputs.map(({ agentRole }) => agentRole)).to.deep.equal([
        "Reader of a",
        "Reader of b",
        "Editor",
      ]);
    });
  });

  describe("ids", () => {
    it("are the names of the tasks, numbered if they repeat", async () => {
      const summary = mapReduce({
        chunkSize: 2,
        mapTask: (item) => echo(item).with({ name: item }),
        reduceTask: (tasks) => merge(tasks).with({ name: "merge" }),
      });
      expect((await summary.run()).taskOutputs.map(({ taskId }) => taskId)).to.deep.equal([
        "i1",
        "i2",
        "i3",
        "i4",
        "merge",
        "merge-2",
        "merge-3",
      ]);
    });

    it("lead from the user's own task to its output", async () => {
      const made: AnyTask[] = [];
      const output = await mapReduce({
        mapTask: (item) => made[made.push(echo(item)) - 1] as AnyTask,
      }).run();
      expect(made.map((task) => output.getOutput(task)?.raw)).to.deep.equal(items(4));
    });
  });

  describe("in adaptive mode", () => {
    it("proceeds directly to the final reduce if the outputs fit the budget", async () => {
      const { summary, warnings } = adaptive();
      const output = await summary.run();
      expect(output.taskOutputs.map(({ taskId }) => taskId)).to.deep.equal([
        "map-1",
        "map-2",
        "map-3",
        "map-4",
        "final-reduce",
      ]);
      expect(output.trace.workflow).to.equal("MAP_REDUCE_ADAPTIVE");
      expect(output.trace.taskTraces.at(-1)).to.include({
        nodeType: "final-reduce",
        mapReduceLevel: 1,
      });
      expect([output.parsed, warnings, summary.isAdaptiveMode]).to.deep.equal([
        "i1+i2+i3+i4",
        [],
        true,
      ]);
    });

    it("packs outputs above the budget into bins, first fit decreasing, level by level", async () => {
      const seen: string[][] = [];
      const { summary } = adaptive({
        items: ["aaaaaa", "bbbb", "ccccc", "ddddd", "ee"],
        reduceTask: (tasks) =>
          new Task({
            description: "Merge",
            context: tasks,
            handler: ({ contextOutputs }) => (
              seen.push(contextOutputs.map(({ raw }) => raw)),
              contextOutputs.map(({ raw }) => raw.slice(0, 1)).join("")
            ),
          }),
      });
      const output = await summary.run();
      expect(seen).to.deep.equal([
        ["aaaaaa", "bbbb"],
        ["ccccc", "ddddd"],
        ["ee"],
        ["ab", "cd", "e"],
      ]);
      expect(output.trace.mapReduceLevels?.map(({ taskCount }) => taskCount)).to.deep.equal([
        5, 3, 1,
      ]);
      expect(output.parsed).to.equal("ace");
    });

    it("counts reported tokens, and estimates unreported ones with one warning", async () => {
      const texts = (withUsage: boolean) =>
        new ScriptedModel(() => ({
          text: "x".repeat(8),
          ...(withUsage ? { usage: { inputTokens: 1, outputTokens: 30 } } : {}),
        }));
      const byModel = {
        targetTokenBudget: 60,
        tokenEstimator: undefined,
        mapTask: (item: string) => Task.of(item),
        reduceTask: (tasks: readonly AnyTask[]) =>
          new Task({ description: "Merge", context: tasks }),
      };
      const reported = adaptive({ ...byModel, model: texts(true) });
      expect(
        (await reported.summary.run()).trace.mapReduceLevels?.map(({ taskCount }) => taskCount),
      ).to.deep.equal([4, 2, 1]);
      expect(reported.warnings).to.deep.equal([]);
      const silent = adaptive({ ...byModel, model: texts(false) });
      const output = await silent.summary.run();
      expect(output.trace.mapReduceLevels?.map(({ taskCount }) => taskCount)).to.deep.equal([4, 1]);
      expect(silent.warnings).to.have.length(1);
      expect(output.metrics).to.include({ llmCallCount: 5, unknownUsageCalls: 5 });
    });

    it("counts every call of the run once", async () => {
      const model = new ScriptedModel(() => ({
        text: "t",
        usage: { inputTokens: 10, outputTokens: 5 },
      }));
      const { summary } = adaptive({
        model,
        targetTokenBudget: 10,
        mapTask: (item) => Task.of(item),
        reduceTask: (tasks) => new Task({ description: "Merge", context: tasks }),
      });
      const { metrics } = await summary.run();
      expect(metrics.llmCallCount).to.equal(model.requests.length);
      expect(metrics).to.include({
        inputTokens: 10 * model.requests.length,
        outputTokens: 5 * model.requests.length,
      });
    });

    it("continues with the maps that succeeded, and calls the reduce for them", async () => {
      const given: number[] = [];
      const { summary, warnings } = adaptive({
        mapTask: (item) =>
          new Task({
            description: item,
            handler: () => (item === "i2" ? Promise.reject(new Error("broken")) : item),
          }),
        reduceTask: (tasks) => (given.push(tasks.length), merge(tasks)),
      });
      const output = await summary.run();
      expect(output.parsed).to.equal("i1+i3+i4");
      expect(given).to.deep.equal([4, 3]); // once before the run, to find mistakes before any cost arises
      expect(warnings.join()).to.include("1 of 4");
    });

    it("fails with the first failure if no map succeeded", async () => {
      const { summary } = adaptive({
        mapTask: (item) =>
          new Task<string>({
            description: item,
            handler: () => Promise.reject(new Error(`no ${item}`)),
          }),
      });
      const error = await rejection(summary.run());
      expect(TaskExecutionError.isInstance(error)).to.equal(true);
      expect(error).to.have.property("taskDescription", "i1");
    });

    it("stops at the first failed map with FAIL_FAST", async () => {
      const { summary } = adaptive({
        parallelErrorStrategy: "FAIL_FAST",
        mapTask: (item) =>
          new Task({
            description: item,
            handler: () => (item === "i2" ? Promise.reject(new Error("broken")) : item),
          }),
      });
      expect(await rejection(summary.run())).to.have.property("taskDescription", "i2");
    });

    it("fails with a reduce that failed, and keeps the finished outputs", async () => {
      const { summary } = adaptive({
        targetTokenBudget: 5,
        reduceTask: (tasks) =>
          new Task({
            description: "Merge",
            context: tasks,
            handler: () => Promise.reject(new Error("broken")),
          }),
      });
      const error = await rejection(summary.run());
      expect(TaskExecutionError.isInstance(error)).to.equal(true);
      expect((error as TaskExecutionError).output?.taskOutputs).to.have.length(4);
    });

    it("treats outputs of any form as data", async () => {
      const model = new ScriptedModel(({ messages }) =>
        JSON.stringify(messages).includes("Merge") ? "" : "{topic} {missing} {{x}}",
      );
      const { summary } = adaptive({
        model,
        mapTask: (item) => Task.of(item),
        reduceTask: (tasks) => new Task({ description: "Merge", context: tasks }),
      });
      const output = await summary.run({ topic: "t" });
      expect(output.parsed).to.equal("");
      expect(model.requests.at(-1)?.messages[1]?.content).to.include("{topic} {missing} {{x}}");
    });

    it("creates a separate reduce for outputs above the budget, with a warning", async () => {
      const { summary, warnings } = adaptive({
        items: ["x".repeat(50), "a", "b"],
        reduceTask: (tasks) =>
          new Task({ description: "Merge", context: tasks, handler: () => "m" }),
      });
      const output = await summary.run();
      expect(output.trace.mapReduceLevels?.map(({ taskCount }) => taskCount)).to.deep.equal([
        3, 2, 1,
      ]);
      expect(warnings.join()).to.include(
        "1 of 3 outputs are larger than the budget of 10 tokens: map-1",
      );
    });

    it("stops adding levels if no two outputs fit together", async () => {
      const { summary, warnings } = adaptive({ items: ["x".repeat(50), "y".repeat(50)] });
      const output = await summary.run();
      expect(output.trace.mapReduceLevels?.map(({ taskCount }) => taskCount)).to.deep.equal([2, 1]);
      expect(warnings).to.have.length(1);
    });

    it("stops adding levels if a level shortened no output", async () => {
      const { summary, warnings } = adaptive({
        items: items(16),
        targetTokenBudget: 6,
        reduceTask: merge,
      });
      const output = await summary.run(); // joined texts are longer than their parts
      expect(output.trace.mapReduceLevels?.map(({ taskCount }) => taskCount)).to.deep.equal([
        16, 7, 1,
      ]);
      expect(warnings).to.have.length(1);
    });

    it("stops adding levels after maxReduceLevels", async () => {
      const shrinking = (tasks: readonly AnyTask[]): Task =>
        new Task({
          description: "Merge",
          context: tasks,
          handler: ({ contextOutputs }) =>
            contextOutputs
              .map(({ raw }) => raw)
              .join("")
              .slice(1),
        });
      const { summary, warnings } = adaptive({
        items: items(12),
        targetTokenBudget: 6,
        maxReduceLevels: 1,
        reduceTask: shrinking,
      });
      const output = await summary.run();
      expect(output.trace.mapReduceLevels).to.have.length(3);
      expect(warnings.join()).to.include("maxReduceLevels");
    });

    it("derives the budget from the context window", async () => {
      const levelsAt = async (
        changes: Partial<MapReduceOptions<string, string>>,
      ): Promise<number> =>
        (
          await adaptive({
            targetTokenBudget: undefined,
            reduceTask: (tasks) =>
              new Task({ description: "Merge", context: tasks, handler: () => "m" }),
            ...changes,
          }).summary.run()
        ).trace.mapReduceLevels?.length ?? 0;
      expect(await levelsAt({ contextWindowSize: 16 })).to.equal(2); // half of it holds four texts of two
      expect(await levelsAt({ contextWindowSize: 15 })).to.equal(3);
      expect(await levelsAt({ contextWindowSize: 15, budgetRatio: 0.6 })).to.equal(2);
    });

    it("processes all items in one task if they are small enough", async () => {
      const { summary } = adaptive({
        directTask: (all) => new Task({ description: "All", handler: () => all.join("&") }),
      });
      const output = await summary.run();
      expect(output.parsed).to.equal("i1&i2&i3&i4");
      expect(output.taskOutputs.map(({ taskId }) => taskId)).to.deep.equal(["direct"]);
      expect(output.trace.taskTraces[0]).to.include({ nodeType: "direct", mapReduceLevel: 0 });
    });

    it("measures items for that limit with inputEstimator", async () => {
      const { summary } = adaptive({
        inputEstimator: (item) => item.repeat(10),
        directTask: () => new Task({ description: "All", handler: () => "direct" }),
      });
      expect((await summary.run()).parsed).to.equal("i1+i2+i3+i4");
    });

    it("measures other items as JSON", async () => {
      const options = {
        items: [{ text: "x".repeat(100) }],
        mapTask: () => echo("mapped"),
        reduceTask: merge,
        directTask: () => new Task({ description: "All", handler: () => "direct" }),
        on: () => undefined,
      };
      expect(
        (await new MapReduceEnsemble<object>({ ...options, targetTokenBudget: 20 }).run()).parsed,
      ).to.equal("mapped");
      expect(
        (await new MapReduceEnsemble<object>({ ...options, targetTokenBudget: 40 }).run()).parsed,
      ).to.equal("direct");
    });

    it("separates overlapping runs, also on a shared kernel", async () => {
      const kernel = new Kernel({ plugins: standardPlugins() });
      await kernel.boot();
      const one = adaptive({ kernel, targetTokenBudget: 5, items: items(7) }).summary;
      const other = adaptive({ kernel, items: ["x"] }).summary;
      const outputs = await Promise.all([
        one.run(),
        other.run(),
        one.run({}, { bindings: () => undefined }),
      ]);
      expect(outputs.map(({ parsed }) => parsed.split("+").length)).to.deep.equal([7, 1, 7]);
      expect(outputs[0]?.taskOutputs.map(({ taskId }) => taskId)).to.deep.equal(
        outputs[2]?.taskOutputs.map(({ taskId }) => taskId),
      );
      await one.dispose();
      expect((await other.run()).parsed).to.equal("x"); // the given kernel stays
      await kernel.dispose();
    });

    it("has no ensemble to return", () => {
      expect(() => adaptive().summary.toEnsemble()).to.throw(
        ValidationError,
        "toEnsemble() is not supported in adaptive mode. ",
      );
    });
  });

  it("can be cancelled in either mode", async () => {
    for (const mode of [{ chunkSize: 2 }, { targetTokenBudget: 10 }]) {
      const stop = new AbortController();
      const slow = (item: string): Task =>
        new Task({
          description: item,
          handler: ({ signal }) =>
            new Promise((_, reject) =>
              signal.addEventListener("abort", () => reject(new Error("stopped"))),
            ),
        });
      const run = mapReduce({ mapTask: slow, ...mode }).run({}, { signal: stop.signal });
      setImmediate(() => stop.abort());
      expect(RunCancelledError.isInstance(await rejection(run))).to.equal(true);
    }
  });

  it("has no parsed value if the run ended early", async () => {
    const output = await mapReduce({
      mapTask: (item) =>
        new Task<string>({ description: item, handler: () => Promise.reject(new Error("broken")) }),
    }).run({}, { throwOnError: false });
    expect(output.isComplete).to.equal(false);
    expect(() => output.parsed).to.throw(ValidationError, "ERROR");
    expect(() => JSON.stringify(output)).not.to.throw();
  });

  it("ends its own kernel with await using or dispose()", async () => {
    const summary = mapReduce();
    await summary.run();
    await summary[Symbol.asyncDispose]();
    expect(ValidationError.isInstance(await rejection(summary.run()))).to.equal(true);
  });
});
