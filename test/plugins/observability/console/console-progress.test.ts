import { expect } from "chai";
import { ValidationError } from "../../../../src/contracts/errors.js";
import type { EnsembleEvent } from "../../../../src/contracts/events.js";
import type { Redactor } from "../../../../src/contracts/redaction.js";
import { createRedactor } from "../../../../src/util/redaction/redactor.js";
import type { ConsoleProgressOptions } from "../../../../src/observability.js";
import { consoleProgress } from "../../../../src/observability.js";
import { output } from "../shared/run-record.js";
import { setEnvironment } from "../../../support/environment.js";

const at = "2026-01-02T03:04:05.000Z";
const base = { v: 1, seq: 0, at } as const;

function start(runId: string): EnsembleEvent {
  return {
    ...base,
    runId,
    type: "ensemble_started",
    workflow: "PARALLEL",
    totalTasks: 2,
    startedAt: at,
    verbose: false,
    toolLogTruncateLength: 200,
  };
}
function end(runId: string, totalTokens = 30): EnsembleEvent {
  const numbers = { totalDurationMs: 3200, durationMs: 3200, totalTokens, totalToolCalls: 1 };
  return {
    ...base,
    runId,
    type: "ensemble_completed",
    exitReason: "COMPLETED",
    completedAt: at,
    ...numbers,
  };
}
function task(
  runId: string,
  taskId = "research",
  agentRole = "Researcher",
  taskDescription = "Find it",
): EnsembleEvent {
  return {
    ...base,
    runId,
    type: "task_started",
    taskId,
    agentRole,
    taskIndex: 1,
    totalTasks: 2,
    taskDescription,
    attempt: 1,
    startedAt: at,
    contextTaskIds: [],
    verbose: false,
  };
}
function done(runId: string, taskId = "research", tokenCount = 30): EnsembleEvent {
  const place = {
    taskIndex: 1,
    totalTasks: 2,
    taskDescription: "Find it",
    attempt: 1,
    startedAt: at,
    completedAt: at,
  };
  return {
    ...base,
    ...place,
    runId,
    type: "task_completed",
    taskId,
    agentRole: "Researcher",
    durationMs: 1500,
    toolCallCount: 1,
    tokenCount,
    taskOutput: output("SECRET"),
  };
}
function usage(runId: string): EnsembleEvent {
  return {
    ...base,
    ...{ runId, taskId: "research", agentRole: "Researcher", purpose: "task", tags: {} },
    ...{ type: "usage_recorded", provider: "openai", modelId: "m", latencyMs: 1, attempt: 1 },
    ...{ inputTokens: 20, outputTokens: 10, cachedInputTokens: 0, reasoningTokens: 0 },
    ...{ outcome: "ok", cost: 0.0042, currency: "USD" },
  };
}
function failed(runId: string, reason: string): EnsembleEvent {
  const place = { taskIndex: 2, totalTasks: 2, taskDescription: "Write", attempt: 1, failedAt: at };
  return {
    ...base,
    ...place,
    runId,
    type: "task_failed",
    taskId: "write",
    agentRole: "Writer",
    durationMs: 65_000,
    reason,
    cause: new ValidationError(reason),
  };
}
function toolCalled(
  runId: string,
  toolName = "search",
  outcome: "SUCCESS" | "FAILURE" = "SUCCESS",
): EnsembleEvent {
  const call = {
    callId: "call-1",
    iteration: 0,
    toolName,
    toolArguments: "{}",
    toolResult: "Error: gone",
    structuredResult: undefined,
    durationMs: 12,
    outcome,
    toolOutcome: outcome,
  };
  return {
    ...base,
    ...call,
    runId,
    type: "tool_called",
    taskId: "research",
    agentRole: "Researcher",
    taskIndex: 1,
  };
}

/** Passes events to the plugin and returns its output, one entry per write. */
function printed(
  events: readonly EnsembleEvent[],
  options: ConsoleProgressOptions = {},
  isTTY = false,
): readonly string[] {
  const writes: string[] = [];
  const stream = { isTTY, write: (text: string) => writes.push(text) };
  let listener: (e: EnsembleEvent, redactor: Redactor) => void = () =>
    expect.fail("the plugin did not listen");
  const on = (fn: typeof listener): (() => void) => {
    listener = fn;
    return () => undefined;
  };
  consoleProgress({ stream, ...options }).apply?.({ events: { on }, hooks: {} as never });
  const redactor = createRedactor({ environment: { ACME_API_KEY: "acme-9f8e7d6c5b" } });
  events.forEach((e) => listener(e, redactor));
  return writes;
}

describe("consoleProgress", () => {
  beforeEach(() => setEnvironment({ NO_COLOR: undefined }));

  it("prints plain lines and a table without a terminal", () => {
    const events = [
      start("r1"),
      task("r1"),
      toolCalled("r1"),
      done("r1"),
      task("r1", "write", "Writer"),
      failed("r1", "it broke"),
      end("r1"),
    ];
    expect(printed(events).join("")).to.equal(
      [
        "Run r1 started: PARALLEL, 2 tasks",
        "start [1/2] research (Researcher): Find it",
        "  tool research (Researcher) search 12 ms ok",
        "done  research (Researcher): 1.5 s, 30 tokens, 1 tool call",
        "start [1/2] write (Writer): Find it",
        "fail  write (Writer) after 1 min 5 s: it broke",
        "",
        "Run r1 COMPLETED after 3.2 s",
        "Task      Agent       Status      Duration  Tokens  Tools",
        "--------  ----------  ---------  ---------  ------  -----",
        "research  Researcher  done           1.5 s      30      1",
        "write     Writer      failed     1 min 5 s       ?      0",
        "--------  ----------  ---------  ---------  ------  -----",
        "Total                 COMPLETED      3.2 s      30      1",
        "",
        "",
      ].join("\n"),
    );
  });

  it("shows no secrets, even if a text is cut within one", () => {
    const key = "sk-live-3f9a7c51e2d84b60";
    const text = printed([
      start("r1"),
      task("r1", "research", "Researcher", `${"x".repeat(70)} ${key}`),
      { ...base, runId: "r1", type: "run_warning", message: "refused acme-9f8e7d6c5b" },
      failed("r1", `${"y".repeat(290)} ${key}`),
    ]).join("");
    expect(text)
      .to.include("refused [redacted]")
      .and.not.include("sk-live")
      .and.not.include("acme-9f");
  });

  it("shows failed tools, warnings, retries and the reason of a failed run", () => {
    const text = printed([
      start("r1"),
      toolCalled("r1", "search", "FAILURE"),
      { ...base, runId: "r1", type: "run_warning", message: "careful" },
      {
        ...base,
        runId: "r1",
        type: "retry_scheduled",
        taskId: "t",
        agentRole: "A",
        attempt: 2,
        delayMs: 500,
        reason: "busy",
      },
      { ...base, runId: "r1", type: "run_failed", code: "AE_TASK_EXECUTION", message: "no" },
    ]).join("");
    expect(text).to.contain("search 12 ms failed: Error: gone\n");
    expect(text).to.contain("warning: careful\n");
    expect(text).to.contain("retry t (A) attempt 2 in 500 ms: busy\n");
    expect(text).to.contain("Run failed: AE_TASK_EXECUTION no\n");
  });

  it("leaves the error of a run to the program that prints it, but prints other reasons", () => {
    const options = { errors: false };
    const end = {
      ...base,
      runId: "r1",
      type: "run_failed",
      code: "AE_PARALLEL_EXECUTION",
    } as const;
    const told = printed(
      [start("r1"), failed("r1", "no disk"), { ...end, message: "Task failed: x: no disk" }],
      options,
    ).join("");
    expect(told).to.include("fail").and.not.include("no disk").and.not.include("Run failed");
    const other = [
      start("r1"),
      failed("r1", "no disk"),
      { ...end, message: "1 of 2 tasks failed" },
    ];
    expect(printed(other, options).join("")).to.match(/failed: no disk\n$/);
    const went = [start("r1"), failed("r1", "no disk"), task("r1", "next", "A", "x")];
    expect(printed(went, options).join("")).to.match(/failed: no disk\nstart/);
  });

  it("colours on a terminal or with the option, but never with NO_COLOR", () => {
    const escape = "\u001b[";
    expect(printed([start("r1")], { live: false }, true).join("")).to.contain(escape);
    expect(printed([start("r1")], { color: true }).join("")).to.contain(escape);
    expect(printed([start("r1")], { color: false, live: false }, true).join("")).not.to.contain(
      escape,
    );
    setEnvironment({ NO_COLOR: "1" });
    expect(printed([start("r1")], { color: true }, true).join("")).not.to.contain(escape);
  });

  it("prints with `brief` only the ends of tasks, and one line for the run", () => {
    const writes = printed(
      [start("r1"), task("r1"), toolCalled("r1", "search"), done("r1"), usage("r1"), end("r1")],
      { brief: true },
    );
    expect(writes).to.deep.equal([
      "done  research (Researcher): 1.5 s, 30 tokens, 1 tool call\n",
      "COMPLETED: 1 of 1 task done in 3.2 s, 30 tokens, $0.0042\n",
    ]);
  });

  it("marks a cost with `brief` as incomplete if a call has no price", () => {
    const unpriced = { ...usage("r1"), cost: undefined } as EnsembleEvent;
    expect(
      printed([start("r1"), usage("r1"), unpriced, end("r1")], { brief: true }).join(""),
    ).to.include("at least $0.0042");
  });

  it("escapes text from outside that could control the terminal or break a line", () => {
    const evil = "a\u001b[2J\u001b]0;title\u0007b\r\nc\u009b31m\u202Ed\u0000";
    const writes = printed([
      start("r1"),
      task("r1", "research", evil, evil),
      toolCalled("r1", evil),
      failed("r1", evil),
      { ...base, runId: "r1", type: "run_failed", code: evil, message: evil },
      end("r1"),
    ]);
    expect(writes.join("").replaceAll("\n", "")).not.to.match(/[\p{Cc}\u202E]/u);
    expect(writes[1]).to.match(/^[^\n]*\n$/);
  });

  it("does not print answers", () => {
    const token: EnsembleEvent = {
      ...base,
      runId: "r1",
      type: "token",
      taskId: "t",
      agentRole: "A",
      token: "SECRET",
      taskDescription: "x",
    };
    expect(
      printed([start("r1"), task("r1"), token, done("r1"), end("r1")]).join(""),
    ).not.to.contain("SECRET");
  });

  it("separates concurrent runs: lines have the id of the run, tables have its tasks", () => {
    const writes = printed([
      start("r1"),
      start("r2"),
      task("r1", "one"),
      task("r2", "two"),
      done("r1", "one"),
      end("r1"),
      done("r2", "two"),
      end("r2"),
    ]);
    expect(writes[2]).to.match(/^\[r1\] start .*one/);
    expect(writes[3]).to.match(/^\[r2\] start .*two/);
    expect(writes[5]).to.match(/^one/m).and.not.match(/^two/m);
    expect(writes[6]).to.match(/^done {2}two/);
    expect(writes[7]).to.match(/^two/m).and.not.match(/^one/m);
  });

  it("adds up a task that is executed several times, and shows when a count is unknown", () => {
    const table = printed([
      start("r1"),
      task("r1"),
      done("r1"),
      task("r1"),
      done("r1", "research", -1),
      end("r1"),
    ]).at(-1);
    expect(table).to.match(/research \(x2\) +Researcher +done +3\.0 s +\? +0/);
  });

  it("does not show a total of unknown counts as zero", () => {
    const table = (tokens: number): string | undefined =>
      printed([start("r"), task("r"), done("r", "research", tokens), end("r", 0)])
        .join("")
        .match(/^Total.*$/m)?.[0];
    expect(table(-1)).to.match(/ \? +1$/);
    expect(table(0)).to.match(/ 0 +1$/);
  });

  it("drops a run that has ended", () => {
    const writes = printed([start("r1"), end("r1"), task("r1"), done("r1"), end("r1")]);
    expect(writes.at(-1)).not.to.contain("research");
  });

  it("refuses unknown options, a stream without write and a colour that is not a boolean", () => {
    for (const options of [{ colour: true }, { stream: {} }, { stream: null }, { color: "red" }]) {
      expect(() => consoleProgress(options as never)).to.throw(ValidationError);
    }
  });
});
