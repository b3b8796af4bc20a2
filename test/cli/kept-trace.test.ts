import { expect } from "chai";
import { keptTrace } from "../../src/cli/kept-trace.js";
import type { JournalEntryKind, KeptEntry, KeptRun } from "../../src/contracts/journal.js";

const RUN: KeptRun = {
  runId: "r",
  ensemble: "team",
  inputs: {},
  inputsHash: "abc",
  tags: {},
  status: "failed",
  startedAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:01:00.000Z",
  executions: 1,
  fruitlessExecutions: 0,
  finishedTasks: 0,
};

function entry(kind: JournalEntryKind, key: string, task: string, value: unknown): KeptEntry {
  return { kind, key, task, value, at: RUN.startedAt, execution: 1 };
}

const call = (toolCalls: readonly object[] = [], usage?: object): object => ({
  provider: "p",
  modelId: "m",
  purpose: "task",
  response: { message: { content: "hi", toolCalls }, ...(usage !== undefined && { usage }) },
});

describe("the trace of a kept run", () => {
  it("contains the end of a run with a result, and the state of a run without a result", () => {
    expect(keptTrace(RUN, [])).to.include({ exitReason: "FAILED", inputTokens: -1, cost: null });
    const error = { code: "AE_X", message: "broken" };
    const metrics = {
      inputTokens: 3,
      outputTokens: 2,
      totalTokens: 5,
      llmCallCount: 1,
      toolCallCount: 0,
    };
    const result = { runId: "r", exitReason: "ERROR", raw: "", taskOutputs: [], error, metrics };
    const trace = keptTrace({ ...RUN, result }, []);
    expect(trace).to.deep.include({ exitReason: "ERROR", inputTokens: 3, cost: null });
    expect(trace.errors).to.deep.equal([{ taskId: null, type: "", ...error }]);
    const priced = { ...result, metrics: { ...metrics, cost: 2 } };
    expect(keptTrace({ ...RUN, result: priced }, []).cost).to.deep.equal({
      amount: 2,
      currency: "",
      atLeast: false,
    });
  });

  it("contains finished, failed and unfinished attempts with their calls", () => {
    const usage = { inputTokens: 4, outputTokens: 1 };
    const { tasks } = keptTrace(RUN, [
      entry("call", "C:one@1/task/1", "one@1", call([], usage)),
      entry("task", "T:one@1", "one@1", { raw: "done" }),
      entry("failed", "F:two@1", "two@1", { error: { message: "no" } }),
      entry("call", "C:two@2/task/1", "two@2", call()),
      entry("task", "T:three@1", "three@1", { raw: "kept", calls: [call([], usage), null] }),
      entry("step", "O:x", "", {}),
    ]);
    expect(tasks.map((task) => [task.taskId, task.attempt, task.outcome])).to.deep.equal([
      ["one", 1, "ok"],
      ["two", 1, "failed"],
      ["two", 2, "unfinished"],
      ["three", 1, "ok"],
    ]);
    expect(tasks[0]).to.include({ output: "done", inputTokens: 4, outputTokens: 1 });
    expect(tasks[2]).to.include({ output: null, inputTokens: -1 });
    expect(tasks[3]?.calls).to.have.lengthOf(2);
  });

  it("places tool calls below the model call that requested them", () => {
    const asked = call([
      { id: "c1", arguments: '{"a":1}' },
      { id: "gone", arguments: "{}" },
    ]);
    const { tasks } = keptTrace(RUN, [
      entry("call", "C:one@1/task/1", "one@1", asked),
      entry("tool", "K:one@1/c1/read", "one@1", { ok: true, output: "text" }),
      entry("tool", "K:one@1/c2/read", "one@1", { error: { message: "denied" } }),
      entry("tool", "K:one@1/c3/read", "one@1", { ok: false, output: "bad" }),
      entry("intent", "K:one@1/c4/mail", "one@1", {}),
    ]);
    expect(tasks[0]?.calls[0]?.tools).to.deep.include.members([
      {
        tool: "read",
        arguments: '{"a":1}',
        result: "text",
        parts: [],
        outcome: "SUCCESS",
        durationMs: -1,
      },
    ]);
    expect(tasks[0]?.calls[0]?.responseType).to.equal("TOOL_CALLS");
    expect(tasks[0]?.tools.map(({ outcome, result }) => `${outcome}: ${result}`)).to.deep.equal([
      "failed: denied",
      "failed: bad",
      "in doubt: its end is unknown",
    ]);
  });

  it("shows transfers, including those back to the first agent", () => {
    const by = (agentRole?: string): object => ({ ...call(), ...(agentRole && { agentRole }) });
    const { tasks } = keptTrace(RUN, [
      entry("call", "C:turn@1/task/0", "turn@1", by("Front desk")),
      entry("call", "C:turn@1/task/1", "turn@1", by("Billing")),
      entry("call", "C:turn@1/task/2", "turn@1", by("Billing")),
      entry("call", "C:turn@1/task/3", "turn@1", by()),
      entry("call", "C:old@1/task/0", "old@1", by()),
    ]);
    expect(tasks.map(({ agentRole }) => agentRole)).to.deep.equal(["Front desk", ""]);
    expect(
      tasks.map(({ delegations }) => delegations.map(({ mode, from, to }) => [mode, from, to])),
    ).to.deep.equal([
      [
        ["handoff", "Front desk", "Billing"],
        ["handoff", "Billing", "Front desk"],
      ],
      [],
    ]);
  });

  it("shows delegated tasks below the delegating task", () => {
    const result = {
      runId: "r",
      exitReason: "COMPLETED",
      raw: "",
      taskOutputs: [{ taskId: "lead@1>c1", agentRole: "Reader", raw: "r" }],
      metrics: {
        inputTokens: 0,
        outputTokens: 0,
        totalTokens: 0,
        llmCallCount: 0,
        toolCallCount: 0,
      },
    };
    const { tasks } = keptTrace({ ...RUN, result }, [
      entry("task", "T:lead@1", "lead@1", { raw: "all" }),
      entry("task", "T:lead@1>c1@1", "lead@1>c1@1", { raw: "part" }),
      entry("failed", "F:lead@1>c2@1", "lead@1>c2@1", {}),
    ]);
    expect(tasks.map(({ taskId }) => taskId)).to.deep.equal(["lead"]);
    const found = tasks[0]?.delegations.map(({ to, succeeded }) => [to, succeeded]);
    expect(found).to.deep.equal([
      ["Reader", true],
      ["c2", false],
    ]);
  });
});
