import { expect } from "chai";
import { AgentEnsembleError, RunCancelledError } from "../../../../src/contracts/errors.js";
import type { EnsembleOutput } from "../../../../src/contracts/output.js";
import type { HookRun } from "../../../../src/contracts/run.js";
import type { UsageRecord } from "../../../../src/contracts/usage.js";
import { claimEndOf, savedBy } from "../../../../src/plugins/durability/durable/run-result.js";

const run = {
  id: "r",
  redact: (text: string): string => text.replaceAll("secret", "***"),
  redactValue: (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value).replaceAll("secret", "***")),
} as HookRun; // claimEndOf requires no other field

function output(more: object = {}): EnsembleOutput {
  return {
    exitReason: "COMPLETED",
    raw: "secret",
    taskOutputs: [
      { taskId: "a", agentRole: "A", raw: "x", parsed: { n: 1 } },
      { taskId: "b", agentRole: "B", raw: "y", parsed: "y" },
    ],
    metrics: {
      inputTokens: 3,
      outputTokens: 2,
      totalTokens: 5,
      llmCallCount: 1,
      toolCallCount: 0,
      costEstimate: { totalCost: 0.5, currency: "EUR" },
    },
    ...more,
  } as unknown as EnsembleOutput; // the fields that are read
}

const end = (found: EnsembleOutput | undefined, error?: Error, sealed = false) =>
  claimEndOf({ run, output: found, error }, { sealed, saved: undefined });

describe("the end of an execution in a journal", () => {
  it("contains outputs, totals and cost without secrets, and with secrets if it is sealed", () => {
    const { status, result } = end(output());
    expect(status).to.equal("completed");
    expect(result).to.deep.include({ exitReason: "COMPLETED", raw: "***" });
    expect(result?.metrics).to.include({ totalTokens: 5, cost: 0.5, currency: "EUR" });
    expect(result?.taskOutputs.map(({ parsed }) => parsed)).to.deep.equal([{ n: 1 }, undefined]);
    expect(end(output(), undefined, true).result?.raw).to.equal("secret");
  });

  it("has at most the last 1,000 outputs, and the number of the others", () => {
    const one = { agentRole: "A", raw: "x" };
    const taskOutputs = Array.from({ length: 1_002 }, (_, n) => ({ ...one, taskId: `t${n}` }));
    const { result } = end(output({ taskOutputs }));
    expect(result).to.include({ omittedTaskOutputs: 2 });
    expect(result?.taskOutputs).to.have.length(1_000);
    expect(result?.taskOutputs[0]?.taskId).to.equal("t2");
  });

  it("contains zeros if an execution ended before it had an output", () => {
    const { status, result } = end(undefined, new Error("broken"));
    expect(status).to.equal("failed");
    expect(result).to.deep.include({
      exitReason: "ERROR",
      raw: "",
      error: { code: "AE_PLUGIN", message: "broken" },
    });
    expect(result?.metrics).to.deep.equal({
      inputTokens: 0,
      outputTokens: 0,
      totalTokens: 0,
      llmCallCount: 0,
      toolCallCount: 0,
    });
  });

  it("distinguishes runs that wait, failed, were cancelled or interrupted", () => {
    const waits = new AgentEnsembleError("AE_RUN_SUSPENDED", "a secret review", { hint: "Answer" });
    const suspended = end(output({ exitReason: "SUSPENDED" }), waits);
    expect(suspended).to.deep.include({ status: "waiting", waitsFor: "a *** review" });
    expect(suspended.result?.error).to.include({ code: "AE_RUN_SUSPENDED", hint: "Answer" });
    const failed = end(output({ exitReason: "ERROR" }), new AgentEnsembleError("AE_X", "no"));
    expect(failed).to.include({ status: "failed" });
    expect(failed.result?.error).to.deep.equal({ code: "AE_X", message: "no" });
    const cancelled = output({ exitReason: "CANCELLED" });
    expect(end(cancelled, new RunCancelledError("stop")).status).to.equal("cancelled");
    const shutdown = new RunCancelledError("stop", { isShutdown: true });
    expect(end(cancelled, shutdown).status).to.equal("interrupted");
  });

  it("sums the known usage of stored calls", () => {
    const record = { inputTokens: 3, outputTokens: -1, calls: 2 } as UsageRecord;
    expect(savedBy([record, { ...record, calls: undefined }], 4)).to.deep.equal({
      llmCalls: 3,
      toolCalls: 4,
      tokens: 6,
    });
    const priced = { ...record, cost: 1, currency: "EUR" };
    expect(savedBy([priced], 0)).to.include({ cost: 1, currency: "EUR" });
  });
});
