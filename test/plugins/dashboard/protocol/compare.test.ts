import { expect } from "chai";
import type { LogEntry } from "../../../../src/contracts/run-store.js";
import {
  compareRuns,
  type RunComparison,
  type RunToCompare,
} from "../../../../src/plugins/dashboard/protocol/compare.js";
import { createRunState } from "../../../../src/plugins/dashboard/protocol/run-state.js";
import { TRACED } from "../../observability/trace/teams.js";
import { logOf, recordedLog } from "../logs.js";

function toCompare(entries: readonly LogEntry[]): RunToCompare {
  const state = createRunState();
  for (const entry of entries) state.apply(entry);
  return { view: state.view, entries };
}

type Task = readonly [taskId: string, output: string, more?: object];

/** The log of a run with tasks that follow each other. */
function runOfTasks(runId: string, tasks: readonly Task[]): RunToCompare {
  const entries = tasks.flatMap(
    ([taskId, raw, more = {}]): readonly (readonly [string, object])[] => [
      ["task_started", { taskId, agentRole: "Writer", taskDescription: `Do ${taskId}`, ...more }],
      ["task_input", { taskId, systemPrompt: "You are Writer", userPrompt: `Do ${taskId}` }],
      [
        "usage_recorded",
        {
          taskId,
          provider: "p",
          modelId: "m",
          inputTokens: 10,
          outputTokens: raw.length,
          cost: 0.1,
          currency: "USD",
        },
      ],
      [
        "tool_called",
        {
          taskId,
          toolName: "search",
          toolArguments: "{}",
          toolResult: raw,
          toolOutcome: "SUCCESS",
        },
      ],
      ["task_completed", { taskId, taskOutput: { raw } }],
    ],
  );
  return toCompare(
    logOf(["ensemble_started", { runId, workflow: "SEQUENTIAL" }], ...entries, [
      "ensemble_completed",
      { exitReason: "COMPLETED" },
    ]),
  );
}

const pairsIn = ({ tasks }: RunComparison): readonly string[] =>
  tasks.map(({ kind, a, b }) => `${kind} ${a?.taskId ?? "-"} ${b?.taskId ?? "-"}`);

describe("the comparison of two runs", () => {
  for (const team of TRACED)
    it(`finds no difference between a run of the team ${team} and itself`, async () => {
      const run = toCompare(await recordedLog(team));
      const { counts, delta, tasks } = compareRuns(run, run);
      expect(counts).to.include({ changed: 0, added: 0, removed: 0 });
      expect(counts.same).to.equal(tasks.length).and.to.be.above(0);
      expect(Object.values(delta).every((value) => value === 0)).to.equal(true);
    });

  it("shows outputs, prompts, calls and figures of both sides", () => {
    const a = runOfTasks("a", [["facts", "one"]]);
    const b = runOfTasks("b", [["facts", "another"]]);
    const { tasks, delta, counts } = compareRuns(a, b);
    expect(counts).to.deep.equal({ same: 0, changed: 1, added: 0, removed: 0 });
    expect(tasks[0]?.changes).to.deep.equal(["output", "toolCalls"]);
    expect(tasks[0]?.a).to.include({ output: "one", userPrompt: "Do facts", model: "p:m" });
    expect(tasks[0]?.b?.toolCalls[0]).to.include({ toolName: "search", result: "another" });
    expect(tasks[0]?.delta).to.deep.include({
      outputTokens: 4,
      inputTokens: 0,
      cost: 0,
      durationMs: 0,
    });
    expect(delta).to.include({ outputTokens: 4, calls: 0, tools: 0 });
  });

  it("lists added tasks after their predecessor, and names removed ones", () => {
    const a = runOfTasks("a", [
      ["facts", "x"],
      ["old", "x"],
      ["text", "x"],
    ]);
    const b = runOfTasks("b", [
      ["first", "x"],
      ["facts", "x"],
      ["new", "x"],
      ["newer", "x"],
      ["text", "x"],
    ]);
    expect(pairsIn(compareRuns(a, b))).to.deep.equal([
      "added - first",
      "same facts facts",
      "added - new",
      "added - newer",
      "removed old -",
      "same text text",
    ]);
  });

  it("pairs tasks without names by their descriptions, then by their places", () => {
    const at = (description: string): object => ({ taskDescription: description });
    const a = runOfTasks("a", [
      ["task-1", "x", at("Collect")],
      ["task-2", "x", at("Write")],
      ["task-3", "x", at("Check")],
    ]);
    const b = runOfTasks("b", [
      ["task-1", "x", at("Write")],
      ["task-2", "x", at("Translate")],
      ["task-3", "x", at("Check it")],
    ]);
    expect(pairsIn(compareRuns(a, b))).to.deep.equal([
      "removed task-1 -",
      "changed task-2 task-1",
      "added - task-2",
      "changed task-3 task-3",
    ]);
    expect(compareRuns(a, b).tasks[3]?.changes).to.deep.equal(["description"]);
  });

  it("has the texts of the last attempt, and no cost if the currencies differ", () => {
    const log = (currency: string): RunToCompare =>
      toCompare(
        logOf(
          ["ensemble_started", { runId: "r" }],
          ["task_started", { taskId: "a", attempt: 1 }],
          ["tool_called", { taskId: "a", toolName: "first", outcome: "FAILURE" }],
          ["task_failed", { taskId: "a", cause: { code: "AE_X", message: "no" } }],
          ["task_started", { taskId: "a", attempt: 2 }],
          ["usage_recorded", { taskId: "a", cost: 1, currency }],
          ["tool_called", { taskId: "a", toolName: "second", outcome: "SUCCESS" }],
        ),
      );
    const { tasks, delta } = compareRuns(log("USD"), log("EUR"));
    expect(tasks[0]?.a?.toolCalls.map(({ toolName }) => toolName)).to.deep.equal(["second"]);
    expect(tasks[0]?.a).to.include({ output: undefined, attempt: 2, durationMs: undefined });
    expect(delta).to.not.have.property("cost");
    expect(delta).to.not.have.property("durationMs");
  });
});
