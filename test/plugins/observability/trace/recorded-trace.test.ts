import { expect } from "chai";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ValidationError } from "../../../../src/contracts/errors.js";
import { Task } from "../../../../src/contracts/task.js";
import { tool } from "../../../../src/contracts/tool.js";
import { Ensemble } from "../../../../src/ensemble/ensemble.js";
import { ScriptedModel } from "../../../../src/testing.js";
import type { RunRecord } from "../../../../src/contracts/trace.js";
import { observabilityTrace } from "../../../../src/plugins/observability/trace/index.js";
import { recordedTraceBuilder } from "../../../../src/plugins/observability/trace/recorded-trace.js";
import { output, runRecord, taskRecord } from "../shared/run-record.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";

type Json = Record<string, unknown>;

function json(changes: Partial<RunRecord> = {}): Json {
  return JSON.parse(recordedTraceBuilder.build(runRecord(changes)).toJson()) as Json;
}

describe("observabilityTrace", () => {
  it("is a plugin that binds a trace builder as a default", () => {
    const bound: unknown[] = [];
    const plugin = observabilityTrace();
    const binding = { toConstantValue: (value: unknown) => bound.push(value) };
    plugin.bind?.({
      single: (_token: unknown, options: unknown) => (bound.push(options), binding),
    } as never);
    expect(plugin.name).to.equal("observability-trace");
    expect(bound).to.deep.equal([{ default: true }, recordedTraceBuilder]);
  });
});

describe("the trace of a run", () => {
  it("computes the time of day by the run's monotonic clock", () => {
    const trace = recordedTraceBuilder.build(runRecord());
    expect(trace.completedAt.toISOString()).to.equal("2026-01-02T03:05:06.500Z");
    expect(trace.totalDurationMs).to.equal(61_500);
    expect(trace.taskTraces[0]?.startedAt.toISOString()).to.equal("2026-01-02T03:04:05.000Z");
    expect(trace.taskTraces[0]?.completedAt.toISOString()).to.equal("2026-01-02T03:04:07.500Z");
  });

  it("creates its lists once", () => {
    const trace = recordedTraceBuilder.build(runRecord());
    expect(trace.taskTraces).to.equal(trace.taskTraces);
    expect(trace.agents).to.equal(trace.agents);
    expect(trace.errors).to.equal(trace.errors);
    expect(Object.isFrozen(trace)).to.equal(true);
  });

  it("nests a delegation's worker and omits it from the list; other child tasks remain", () => {
    const trace = recordedTraceBuilder.build(runRecord());
    expect(trace.taskTraces.map((task) => task.taskId)).to.deep.equal([
      "research",
      "research.2",
      "broken",
    ]);
    expect(trace.taskTraces[0]?.delegations[0]?.workerTrace?.taskId).to.equal("research.1");
  });

  it("shows every attempt of a model call, with tool calls under the call that requested them", () => {
    const [first, second, third] =
      recordedTraceBuilder.build(runRecord()).taskTraces[0]?.llmInteractions ?? [];
    expect(first).to.include({
      iterationIndex: 0,
      attempt: 1,
      responseType: "ERROR",
      error: "overloaded",
      inputTokens: -1,
      responseText: "",
    });
    expect(second).to.include({
      iterationIndex: 0,
      attempt: 2,
      responseType: "TOOL_CALLS",
      finishReason: "tool_calls",
      latencyMs: 1000,
    });
    expect(
      second?.toolCalls.map((call) => [call.toolName, call.durationMs, call.outcome]),
    ).to.deep.equal([["search", 250, "SUCCESS"]]);
    expect(third).to.include({
      iterationIndex: 1,
      responseType: "FINAL_ANSWER",
      responseText: "The answer",
      modelId: "m-1",
      purpose: "task",
    });
  });

  it("lists parallel tool calls in the order of the requests, for any order of their ends", async () => {
    const wait = (ms: number): Promise<string> =>
      new Promise((resolve) => setTimeout(resolve, ms, "done"));
    const slow = tool({ name: "slow", description: "Takes time", execute: () => wait(20) });
    const quick = tool({ name: "quick", description: "Takes none", execute: () => "done" });
    const calls = [
      { name: "slow", arguments: { input: "a" } },
      { name: "quick", arguments: { input: "b" } },
    ];
    const model = new ScriptedModel([{ toolCalls: calls }, "The answer"]);
    await using ensemble = new Ensemble({
      model,
      tasks: [new Task({ description: "Search", tools: [slow, quick] })],
    });
    const { trace } = await ensemble.run();
    expect(
      trace.taskTraces[0]?.llmInteractions[0]?.toolCalls.map(({ toolName }) => toolName),
    ).to.deep.equal(["slow", "quick"]);
  });

  it("contains the prompts of the first conversation", () => {
    const [task, , broken] = recordedTraceBuilder.build(runRecord()).taskTraces;
    expect(task?.prompts).to.deep.equal({
      systemPrompt: "You are Researcher.",
      userPrompt: "Find\nit",
      parts: [
        {
          type: "image",
          mediaType: "image/png",
          bytes: 3,
          sha256: "709e80c88487a2411e1ee4dfb9f22a861492d20c4765150c0c794abd70f8147c",
        },
      ],
    });
    expect(broken?.prompts).to.equal(undefined);
  });

  it("contains a parsed output only if it differs from the text", () => {
    const structured = taskRecord({ output: output('{"a":1}', { a: 1 }) });
    const trace = recordedTraceBuilder.build(runRecord({ tasks: [taskRecord(), structured] }));
    expect(trace.taskTraces.map((task) => task.parsedOutput)).to.deep.equal([undefined, { a: 1 }]);
  });

  it("lists the errors of failed tasks and of the run", () => {
    const { errors } = recordedTraceBuilder.build(runRecord());
    expect(errors.map((e) => [e.taskId, e.errorType, e.code, e.message])).to.deep.equal([
      ["broken", "TaskExecutionError", "AE_TASK_EXECUTION", "it broke"],
      [undefined, "TaskExecutionError", "AE_TASK_EXECUTION", "the run broke"],
    ]);
    expect(errors[0]?.stackTrace).to.contain("it broke");
    expect(errors[1]?.occurredAt.toISOString()).to.equal("2026-01-02T03:05:06.500Z");
  });

  it("lists each agent once, with its static tools and whether it delegated", () => {
    expect(recordedTraceBuilder.build(runRecord()).agents).to.deep.equal([
      {
        role: "Researcher",
        goal: "Find things",
        background: "Long years",
        toolNames: ["search"],
        allowDelegation: true,
      },
      {
        role: "Writer",
        goal: "Write",
        background: undefined,
        toolNames: [],
        allowDelegation: false,
      },
    ]);
  });

  it("extends a task that never ended to the end of the run", () => {
    const trace = recordedTraceBuilder.build(
      runRecord({ tasks: [taskRecord({ outcome: "running", endedMs: 0 })] }),
    );
    expect(trace.taskTraces[0]?.durationMs).to.equal(61_500);
  });

  it("keeps the run's warnings in its metadata", () => {
    expect(recordedTraceBuilder.build(runRecord({ warnings: ["careful"] })).metadata).to.deep.equal(
      { tags: { team: "blue" }, warnings: ["careful"] },
    );
  });
});

describe("the JSON of a trace", () => {
  it("describes a run", () => {
    const { agents, taskTraces, metrics, errors, ...rest } = json();
    expect(rest).to.deep.equal({
      schemaVersion: "1.3",
      captureMode: "OFF",
      ensembleId: "run-1",
      workflow: "SEQUENTIAL",
      startedAt: "2026-01-02T03:04:05.000Z",
      completedAt: "2026-01-02T03:05:06.500Z",
      totalDuration: "PT1M1.5S",
      exitReason: "ERROR",
      inputs: { topic: "bees" },
      totalCostEstimate: null,
      mapReduceLevels: [],
      loopTraces: [],
      graphTrace: null,
      phases: [],
      traceId: null,
      metadata: { tags: { team: "blue" } },
    });
    expect([agents, taskTraces, errors].map((list) => (list as unknown[]).length)).to.deep.equal([
      2, 3, 2,
    ]);
    expect(metrics).to.include({
      totalInputTokens: 40,
      totalOutputTokens: 20,
      totalTokens: 60,
      totalLlmCallCount: 3,
      totalToolCalls: 1,
      totalDelegations: 1,
      totalCostEstimate: null,
      llmLatency: "PT1M1S",
      unknownUsageCalls: 1,
    });
    expect((metrics as Json)["tasks"]).to.have.nested.property("[0].metrics.llmLatency", "PT1.5S");
  });

  it("describes a task", () => {
    const task = (json()["taskTraces"] as Json[])[0] as Json;
    expect(task).to.include({ duration: "PT2.5S", finalOutput: "The answer", parsedOutput: null });
    expect(task["metrics"]).to.include({
      inputTokens: 20,
      llmLatency: "PT1.3505S",
      toolExecutionTime: "PT0.25S",
      costEstimate: null,
    });
  });

  it("describes model calls, tool calls and delegations", () => {
    const task = (json()["taskTraces"] as Json[])[0] as Json;
    const call = (task["llmInteractions"] as Json[])[1] as Json;
    expect(call["latency"]).to.equal("PT1S");
    expect((call["toolCalls"] as Json[])[0]).to.deep.equal({
      toolName: "search",
      arguments: '{"input":"x"}',
      result: "found",
      structuredOutput: null,
      startedAt: "2026-01-02T03:04:06.500Z",
      completedAt: "2026-01-02T03:04:06.750Z",
      duration: "PT0.25S",
      outcome: "SUCCESS",
      parsedInput: null,
      metadata: {},
    });
    const { workerTrace, ...delegation } = (task["delegations"] as Json[])[0] as Json;
    expect(delegation).to.deep.equal({
      delegatorRole: "Researcher",
      workerRole: "Writer",
      workerTaskId: "research.1",
      taskDescription: "Write it",
      startedAt: "2026-01-02T03:04:06.800Z",
      completedAt: "2026-01-02T03:04:06.900Z",
      depth: 1,
      priority: "HIGH",
      mode: "task",
      result: "Text",
      succeeded: true,
      duration: "PT0.1S",
    });
    expect(workerTrace).to.include({ taskId: "research.1", agentRole: "Writer" });
  });

  it("can be written for any inputs and outputs, also by JSON.stringify", () => {
    const circular: Record<string, unknown> = { n: 1n };
    circular["self"] = circular;
    const trace = recordedTraceBuilder.build(
      runRecord({
        run: { id: "r", inputs: { circular, f: () => 1 }, find: () => undefined, tags: {} },
        tasks: [taskRecord({ output: output("x", circular) })],
      }),
    );
    expect(JSON.parse(trace.toJson())).to.have.nested.property(
      "inputs.circular.self",
      "[Circular]",
    );
    expect(JSON.parse(JSON.stringify(trace))).to.deep.equal(JSON.parse(trace.toJson()));
  });
});

describe("saving a trace", () => {
  let dir: string;
  const trace = recordedTraceBuilder.build(runRecord());

  beforeEach(() => {
    dir = temporaryFolder();
  });

  it("creates the folders and leaves only the file", async () => {
    const path = join(dir, "a", "b", "run.json");
    await trace.save(path);
    expect(JSON.parse(await readFile(path, "utf8"))).to.have.property("ensembleId", "run-1");
    expect(await readdir(join(dir, "a", "b"))).to.deep.equal(["run.json"]);
  });

  it("replaces a symbolic link instead of following it", async () => {
    await writeFile(join(dir, "precious"), "keep");
    await symlink(join(dir, "precious"), join(dir, "run.json"));
    await trace.save(join(dir, "run.json"));
    expect(await readFile(join(dir, "precious"), "utf8")).to.equal("keep");
  });

  it("succeeds despite many concurrent writers and a leftover temporary file", async () => {
    const path = join(dir, "run.json");
    await writeFile(join(dir, `.run.json.${process.pid}.0.tmp`), "stale");
    await Promise.all(Array.from({ length: 20 }, () => trace.save(path)));
    expect(await readFile(path, "utf8")).to.equal(trace.toJson());
    expect(await readdir(dir)).to.have.members(["run.json", `.run.json.${process.pid}.0.tmp`]);
  });

  it("fails with the path in the error, and leaves no temporary file", async () => {
    const path = join(dir, "taken");
    await mkdir(join(path, "inside"), { recursive: true });
    const e = await trace.save(path).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(e).to.be.instanceOf(ValidationError);
    expect((e as ValidationError).message).to.contain(path);
    expect(await readdir(dir)).to.deep.equal(["taken"]);
    expect(existsSync(join(path, "inside"))).to.equal(true);
  });

  it("refuses a blank path", async () => {
    const e = await trace.save(" ").catch((error: unknown) => error);
    expect(ValidationError.isInstance(e)).to.equal(true);
  });
});
