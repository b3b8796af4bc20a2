import { expect } from "chai";
import type { AnyTask } from "../../src/contracts/task.js";
import { ValidationError } from "../../src/contracts/errors.js";
import { Task } from "../../src/contracts/task.js";
import { MapReduceEnsemble } from "../../src/map-reduce/map-reduce-ensemble.js";
import { rejection } from "../support/rejection.js";

const merge = (tasks: readonly AnyTask[]): Task =>
  new Task({ description: "Merge", context: tasks, handler: () => "merged" });
const echo = (item: string): Task => new Task({ description: `Read ${item}`, handler: () => item });

/** Options as JavaScript users may write them. */
function mapReduce(changes: Readonly<Record<string, unknown>>): MapReduceEnsemble<string> {
  return new MapReduceEnsemble<string>({
    items: ["i1", "i2", "i3", "i4"],
    mapTask: echo,
    reduceTask: merge,
    ...changes,
  });
}

function refusal(changes: Record<string, unknown>): ValidationError {
  try {
    mapReduce(changes);
  } catch (error) {
    if (ValidationError.isInstance(error)) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("a MapReduceEnsemble refuses", () => {
  const direct = (): Task => Task.of("All");
  const refused: readonly (readonly [string, Record<string, unknown>, string])[] = [
    ["no items", { items: [] }, "items must not be null or empty"],
    ["items that are not a list", { items: "abc" }, "items must not be null or empty"],
    ["an unknown option", { chunksize: 3 }, "Unknown option 'chunksize' in MapReduceEnsemble"],
    [
      "an option that is derived from the items",
      { tasks: [] },
      "Unknown option 'tasks' in MapReduceEnsemble",
    ],
    ["a missing mapTask", { mapTask: undefined }, "mapTask must be a function"],
    ["a missing reduceTask", { reduceTask: undefined }, "reduceTask must be a function"],
    ["a chunk of one", { chunkSize: 1 }, "chunkSize must be >= 2, got: 1"],
    ["a budget of 0", { targetTokenBudget: 0 }, "targetTokenBudget must be > 0, got: 0"],
    [
      "both modes",
      { chunkSize: 3, targetTokenBudget: 5 },
      "chunkSize and targetTokenBudget are mutually exclusive. ",
    ],
    [
      "both modes by the window",
      { chunkSize: 3, contextWindowSize: 5 },
      "chunkSize and targetTokenBudget are mutually exclusive. ",
    ],
    ["two budgets", { targetTokenBudget: 5, contextWindowSize: 5 }, "mutually exclusive"],
    [
      "a ratio without a context window",
      { budgetRatio: 0.5 },
      "contextWindowSize must be set when budgetRatio is specified. ",
    ],
    [
      "a ratio of zero",
      { contextWindowSize: 10, budgetRatio: 0 },
      "budgetRatio must be in range (0.0, 1.0], got: 0",
    ],
    [
      "a ratio above one",
      { contextWindowSize: 10, budgetRatio: 1.1 },
      "budgetRatio must be in range (0.0, 1.0], got: 1.1",
    ],
    [
      "a window too small for a budget",
      { contextWindowSize: 1 },
      "targetTokenBudget must be > 0, got: 0",
    ],
    [
      "no levels",
      { targetTokenBudget: 5, maxReduceLevels: 0 },
      "maxReduceLevels must be >= 1, got: 0",
    ],
    [
      "a direct task in static mode",
      { directTask: direct },
      "directAgent/directTask are not supported in static (chunkSize) mode. ",
    ],
    [
      "a direct agent without its task",
      { targetTokenBudget: 5, directAgent: direct },
      "directTask must be set when directAgent is specified",
    ],
    [
      "an estimator in static mode",
      { tokenEstimator: () => 1 },
      "tokenEstimator has no effect in static (chunkSize) mode",
    ],
    [
      "levels in static mode",
      { maxReduceLevels: 3 },
      "maxReduceLevels has no effect in static (chunkSize) mode",
    ],
    [
      "an invalid option of the ensemble",
      { maxConcurrency: 0 },
      "Ensemble maxConcurrency must be > 0, got: 0",
    ],
    [
      "an invalid map task",
      { mapTask: (item: string) => (item === "i3" ? "task" : echo(item)) },
      "mapTask must return a Task for item at index 2, got: task",
    ],
    [
      "an invalid map agent",
      { mapAgent: () => undefined },
      "mapAgent must return an Agent for item at index 0",
    ],
    [
      "an invalid reduce task",
      { reduceTask: () => undefined },
      "reduceTask must return a Task for 4 tasks",
    ],
    [
      "a task that is returned twice",
      {
        reduceTask: merge,
        mapTask: (
          (task) => () =>
            task
        )(echo("x")),
      },
      "was returned for 'map-1' already",
    ],
    [
      "an invalid direct task",
      { targetTokenBudget: 50, directTask: () => 1 },
      "directTask must return a Task, got: 1",
    ],
    [
      "an input estimator that returns no text",
      { targetTokenBudget: 50, directTask: direct, inputEstimator: () => 1 },
      "inputEstimator must return a text for item at index 0, got: 1",
    ],
    [
      "a token estimator that returns no count",
      { targetTokenBudget: 50, directTask: direct, tokenEstimator: () => Number.NaN },
      "tokenEstimator must return a number >= 0 for item at index 0",
    ],
  ];
  for (const [what, changes, text] of refused) {
    it(what, () => {
      expect(refusal(changes).message).to.include(text);
    });
  }

  it("a function that throws, naming the item", () => {
    const error = refusal({ mapTask: (item: string) => Task.of(item === "i2" ? " " : item) });
    expect(error.message).to.equal(
      "mapTask failed for item at index 1: Task description must not be blank",
    );
    expect(ValidationError.isInstance(error.cause)).to.equal(true);
  });

  it("a reduce that omits some of its tasks, naming them, in both modes", () => {
    const reduceTask = (tasks: readonly AnyTask[]): Task =>
      new Task({ description: "Merge", context: tasks.slice(1) });
    for (const mode of [{}, { targetTokenBudget: 10 }])
      expect(refusal({ reduceTask, ...mode }).message).to.include("lacks 1 of 4: 'Read i1'");
  });

  it("a token estimator that returns no count during the run", async () => {
    const error = await rejection(
      mapReduce({ targetTokenBudget: 10, tokenEstimator: () => -1 }).run(),
    );
    expect(error).to.include({ code: "AE_VALIDATION" });
  });

  it("an invalid short form", () => {
    const make =
      (...args: unknown[]) =>
      () =>
        MapReduceEnsemble.of(...(args as Parameters<typeof MapReduceEnsemble.of>));
    expect(make(undefined, ["a"], "Map", "Reduce")).to.throw(
      ValidationError,
      "model must not be null",
    );
    expect(make("m:x", ["a"], " ", "Reduce")).to.throw(ValidationError, "mapDescription");
    expect(make("m:x", ["a"], "Map", "")).to.throw(ValidationError, "reduceDescription");
    expect(make("m:x", [], "Map", "Reduce")).to.throw(
      ValidationError,
      "items must not be null or empty",
    );
  });
});
