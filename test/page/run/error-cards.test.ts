import { expect } from "chai";
import { entry, logOf } from "../../plugins/dashboard/logs.js";
import {
  chainOf,
  correctionsOf,
  lastAnswer,
  notStartedBecauseOf,
  troubleOf,
} from "../../../page/src/lib/run/error-cards.js";
import { outcomeWords } from "../../../page/src/lib/run/outcome-words.js";

const PARSING = {
  name: "OutputParsingError",
  code: "AE_OUTPUT_PARSING",
  message: "3 corrections did not help",
  hint: "Make the field optional.",
};

describe("errors of a run", () => {
  it("show the innermost error with a code, its hint and the chain", () => {
    const cause = {
      name: "TaskExecutionError",
      code: "AE_TASK_EXECUTION",
      message: "Task failed",
      cause: { ...PARSING, cause: { name: "Error", message: "parties: expected array" } },
    };
    const trouble = troubleOf(entry(7, "task_failed", { taskId: "t", attempt: 2, cause }));
    expect(trouble).to.include({
      weight: "failed",
      code: "AE_OUTPUT_PARSING",
      message: "3 corrections did not help",
      hint: "Make the field optional.",
      title: "failed in attempt 2",
      taskId: "t",
    });
    expect(trouble.causes.map(({ message }) => message)).to.deep.equal([
      "Task failed",
      "3 corrections did not help",
      "parties: expected array",
    ]);
  });

  it("have no chain if there is only one error", () => {
    const trouble = troubleOf(entry(1, "task_failed", { cause: PARSING }));
    expect(trouble.causes).to.deep.equal([]);
    expect(trouble.hint).to.equal("Make the field optional.");
  });

  it("read incomplete chains from files", () => {
    const circle: { message: string; cause?: unknown } = { message: "again" };
    circle.cause = circle;
    expect(chainOf(circle)).to.have.lengthOf(10);
    expect(chainOf("text")).to.deep.equal([]);
  });

  it("distinguish failures that stopped a run from others", () => {
    const log = logOf(
      ["run_failed", { code: "AE_X", message: "m" }],
      ["run_warning", { message: "w" }],
      ["tool_called", { toolName: "search", toolOutcome: "TIMED_OUT", toolResult: "Error: late" }],
      [
        "guardrail_refused",
        { guardrailName: "cites", kind: "OUTPUT", message: "No source.", retriesLeft: 1 },
      ],
      ["output_corrected", { correction: 1, of: 3, errors: ["a: missing", "b: missing"] }],
      ["usage_recorded", { outcome: "failed", attempt: 2, errorCode: "AE_RATE", error: "429" }],
      ["iteration_limit_reached", { max: 5, stop: 1 }],
      ["delegation_failed", { workerRole: "Scout", reason: "refused" }],
      ["budget_exceeded", { limit: "maxCost", allowed: 1, used: 2, action: "stop" }],
      ["call_in_doubt", { toolName: "pay" }],
      ["of_a_later_version", { message: "new" }],
    ).map(troubleOf);
    expect(log.map(({ weight, title }) => [weight, title])).to.deep.equal([
      ["failed", "The run failed"],
      ["warning", "Warning"],
      ["note", "Tool search timed out"],
      ["note", "cites refused the output"],
      ["note", "The answer did not fit the schema, correction 1 of 3"],
      ["note", "Model call failed, attempt 2"],
      ["note", "The agent reached its limit of 5 tool calls"],
      ["note", "Delegation to Scout failed"],
      ["note", "Budget exceeded: maxCost"],
      ["note", "The effect of a call of pay is unknown"],
      ["note", "of_a_later_version"],
    ]);
    expect(log[3]?.message).to.equal("No source. 1 more attempt.");
    expect(log[4]?.message).to.equal("a: missing\nb: missing");
  });

  it("list the tasks that were not started because of a task, directly or indirectly", () => {
    const task = (id: string, deps: readonly string[], more: object = {}) =>
      [id, { id, deps, after: [] as readonly string[], startMs: undefined, ...more }] as const;
    const tasks = new Map([
      task("c", ["b"]),
      task("b", ["a"]),
      task("a", [], { startMs: 0 }),
      task("d", [], { after: ["c"] }),
      task("other", []),
      task("begun", ["a"], { startMs: 5 }),
    ]);
    expect(notStartedBecauseOf("a", tasks).toSorted()).to.deep.equal(["b", "c", "d"]);
  });

  it("contain the last answer and the number of corrections of a task", () => {
    const entries = logOf(
      ["llm_iteration_completed", { responseText: "first" }],
      ["output_corrected"],
      ["llm_iteration_completed", { responseText: "second" }],
      ["llm_iteration_completed", { responseText: "" }],
    );
    expect(lastAnswer(entries)).to.equal("second");
    expect(correctionsOf(entries)).to.equal(1);
    expect(lastAnswer([])).to.equal(undefined);
  });

  it("distinguish seven outcomes of tool calls", () => {
    const words = [
      "SUCCESS",
      "FAILURE",
      "ERROR",
      "TIMED_OUT",
      "REJECTED",
      "CANCELLED",
      "SKIPPED_MAX_ITERATIONS",
    ].map((outcome) => outcomeWords(outcome).word);
    expect(new Set(words).size).to.equal(7);
    expect(outcomeWords("toString").word).to.equal("ended");
  });
});
