import type { Clock, EnsembleEvent, EventType, Plugin, RetryPolicy } from "agentensemble";
import {
  Agent,
  AgentSynthesizer,
  MemoryStore,
  ModelCallError,
  Phase,
  Review,
  ReviewDecision,
  Task,
  Tokens,
  definePlugin,
  tool,
} from "agentensemble";
import { budget } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { echo, runToEnd, typesOf } from "../support/kernel-fixtures.js";

const look = tool({ name: "look", description: "Looks", execute: () => "nothing" });
const agent = new Agent({ role: "Seeker", goal: "g", tools: [look] });
const careful = new Agent({
  role: "Seeker",
  goal: "g",
  tools: [
    tool({ name: "look", description: "Looks", requireApproval: true, execute: () => "nothing" }),
  ],
});
const asked = { toolCalls: [{ name: "look", arguments: { input: "x" } }] };

describe("the figures of events", () => {
  it("are whole milliseconds, with a clock of any resolution", async () => {
    let ms = 0;
    const clock: Clock = { now: () => new Date(0), monotonicMs: () => (ms += 1.37) };
    const fractions = definePlugin({
      name: "fractions",
      bind: (bind) => void bind.single(Tokens.Clock).toConstantValue(clock),
    });
    const { events } = await runToEnd({
      model: new ScriptedModel([asked, "found"]),
      phases: [new Phase({ name: "first", tasks: [new Task({ description: "a", agent })] })],
      plugins: [fractions],
    });
    const figures = events.flatMap((event) =>
      Object.entries(event).flatMap(([name, value]: [string, unknown]) =>
        name.endsWith("Ms") ? [[event.type, name, value] as const] : [],
      ),
    );
    expect(figures.map(([type]) => type)).to.include.members([
      "llm_iteration_completed",
      "usage_recorded",
      "tool_called",
      "task_completed",
      "phase_completed",
      "ensemble_completed",
    ]);
    expect(figures.filter(([, , value]) => !Number.isInteger(value))).to.deep.equal([]);
  });
});

/** The durations that a run's events of one type state. */
function durationsIn(events: readonly EnsembleEvent[], type: EventType): readonly unknown[] {
  return events
    .filter((event) => event.type === type)
    .flatMap((event) =>
      Object.entries(event).flatMap(([name, value]: [string, unknown]) =>
        name.endsWith("Ms") || name === "used" ? [value] : [],
      ),
    );
}

describe("the figures of events of plugins", () => {
  /** Each reading is later by `stepMs`. */
  function clockOf(stepMs: number): Plugin {
    let ms = 0;
    const clock: Clock = { now: () => new Date(0), monotonicMs: () => (ms += stepMs) };
    return definePlugin({
      name: "fractions",
      bind: (bind) => void bind.single(Tokens.Clock).toConstantValue(clock),
    });
  }

  it("are whole milliseconds of reviews, memory and retries", async () => {
    const store = MemoryStore.inMemory();
    const policy: RetryPolicy = {
      next: (_error, attempt) => (attempt === 1 ? { delayMs: 1.25 } : undefined),
    };
    const overloaded = new ModelCallError("busy", {
      provider: "p",
      modelId: "m",
      code: "AE_MODEL_SERVER",
      retryable: true,
    });
    const { events, output } = await runToEnd({
      model: new ScriptedModel([overloaded, "done"]),
      memoryStore: store,
      tasks: [new Task({ description: "a", agent, memory: "notes", review: Review.required() })],
      reviewHandler: () => ReviewDecision.continue(),
      plugins: [
        clockOf(0.7),
        definePlugin({
          name: "once-more",
          bind: (bind) =>
            void bind.single(Tokens.RetryPolicy, { override: true }).toConstantValue(policy),
        }),
      ],
    });
    expect(output.exitReason).to.equal("COMPLETED");
    for (const type of ["review_resolved", "memory_read", "retry_scheduled"] as const) {
      const figures = durationsIn(events, type);
      expect(figures, type).to.have.length(1);
      expect(figures.every(Number.isInteger), `${type}: ${figures.join()}`).to.equal(true);
    }
  });

  it("are whole milliseconds of a budget's time", async () => {
    const { events } = await runToEnd({
      model: new ScriptedModel(["a", "b"]),
      tasks: [new Task({ description: "a", agent })],
      plugins: [clockOf(0.7), budget({ maxDurationMs: 1 })],
    });
    const [used, ...more] = durationsIn(events, "budget_exceeded");
    expect(more).to.deep.equal([]);
    expect(used).to.satisfy(Number.isInteger);
    expect(used).to.be.above(0);
  });
});

describe("a run that an observer ends", () => {
  it("emits no event of a model call after its end", async () => {
    const controller = new AbortController();
    const { events } = await runToEnd(
      {
        model: new ScriptedModel(["never"]),
        tasks: [new Task({ description: "a", agent })],
        onTaskInput: () => controller.abort(),
      },
      { signal: controller.signal },
    );
    expect(typesOf(events)).to.include("task_input").and.not.include("llm_iteration_started");
  });

  it("emits no event of a task that had not begun, but records the task", async () => {
    const controller = new AbortController();
    const { events, output } = await runToEnd(
      {
        model: new ScriptedModel(["{}"]),
        agentSynthesizer: AgentSynthesizer.llmBased(),
        tasks: [new Task({ description: "a" })],
        onLlmIterationStarted: () => controller.abort(),
      },
      { signal: controller.signal },
    );
    expect(typesOf(events))
      .to.include("llm_iteration_started")
      .and.not.include.oneOf(["task_started", "task_failed"]);
    expect(output.exitReason).to.equal("CANCELLED");
    expect(output.trace.taskTraces.map(({ outcome }) => outcome)).to.deep.equal(["aborted"]);
  });

  it("requests no review after its end", async () => {
    const controller = new AbortController();
    let questions = 0;
    const { events } = await runToEnd(
      {
        model: new ScriptedModel([asked, "done"]),
        tasks: [new Task({ description: "a", agent: careful })],
        reviewHandler: () => {
          questions++;
          return ReviewDecision.continue();
        },
        listeners: [{ on: ({ type }) => void (type === "tool_started" && controller.abort()) }],
      },
      { signal: controller.signal },
    );
    expect(typesOf(events))
      .to.include("task_failed")
      .and.not.include.oneOf(["review_requested", "review_resolved"]);
    expect(questions).to.equal(0);
  });
});

describe("promptBuildMs", () => {
  it("is the time to build the prompts of a task, and the sum of these times for the run", async () => {
    let ms = 0;
    const clock: Clock = { now: () => new Date(0), monotonicMs: () => ms++ };
    const { output } = await runToEnd({
      model: new ScriptedModel(["one", "two"]),
      workflow: "SEQUENTIAL",
      tasks: [
        new Task({ description: "a", agent }),
        new Task({ description: "b", agent }),
        echo("no prompt"),
      ],
      plugins: [
        definePlugin({
          name: "counting-clock",
          bind: (bind) => void bind.single(Tokens.Clock).toConstantValue(clock),
        }),
      ],
    });
    const built = output.taskOutputs.map(({ metrics }) => metrics.promptBuildMs);
    expect(built).to.deep.equal([1, 1, 0]);
    expect(output.metrics.promptBuildMs).to.equal(2);
  });
});
