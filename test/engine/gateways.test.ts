import type {
  AnyTool,
  DelegationRequest,
  DelegationResponse,
  EnsembleOptions,
  MemoryEntry,
  Plugin,
  TaskScope,
} from "agentensemble";
import {
  Agent,
  Task,
  ToolConfigurationError,
  ToolExecutionError,
  ToolResult,
  Tokens,
  answer,
  definePlugin,
  reject,
  replace,
  tool,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { z } from "zod";
import { rejection } from "../support/rejection.js";
import { runToEnd, scoped, tapping, typesOf } from "../support/kernel-fixtures.js";

/** The result of `work` inside a task. */
async function inTask<T>(
  work: (scope: TaskScope) => Promise<T>,
  options: EnsembleOptions = {},
): Promise<{ readonly value: T } & Awaited<ReturnType<typeof runToEnd>>> {
  const values: T[] = [];
  const ended = await runToEnd({
    tasks: [scoped("boss", async (scope) => void values.push(await work(scope)))],
    ...options,
  });
  if (ended.error !== undefined) throw ended.error;
  return { value: values[0] as T, ...ended }; // the work has ended
}

describe("the gateway of tool calls", () => {
  const got: unknown[] = [];
  const add = tool({
    name: "add",
    description: "Adds",
    input: z.object({ a: z.number(), b: z.number().default(1) }),
    execute: (input) => (got.push(input), { sum: input.a + input.b }),
  });
  const plain = tool({
    name: "plain",
    description: "Takes a text",
    execute: (input) => `<${input}>`,
  });
  const call = (
    name: string,
    args: string,
    tools: readonly AnyTool[] = [add, plain],
  ): Promise<ToolResult> =>
    inTask((scope) => scope.callTool({ id: "1", name, arguments: args }, tools)).then(
      ({ value }) => value,
    );

  it("passes the value that the schema returns for the arguments, and keeps it next to its text", async () => {
    expect(await call("add", '{"a":2}')).to.deep.include({
      ok: true,
      output: '{"sum":3}',
      structured: { sum: 3 },
    });
    expect(got).to.deep.equal([{ a: 2, b: 1 }]);
  });

  it("passes the text under `input` to a tool without a schema, otherwise the arguments unchanged", async () => {
    expect((await call("plain", '{"input":"x"}')).output).to.equal("<x>");
    expect((await call("plain", '{"input":{"y":1}}')).output).to.equal('<{"y":1}>');
    expect((await call("plain", "just text")).output).to.equal("<just text>");
    expect((await call("plain", '{"other":1}')).output).to.equal('<{"other":1}>');
  });

  it("refuses invalid JSON, invalid arguments, unknown names and keys of prototypes, without running the tool", async () => {
    got.length = 0;
    for (const args of [
      "{",
      '{"a":"x"}',
      "[]",
      "null",
      '{"a":1,"__proto__":{"b":2}}',
      '{"a":1,"constructor":1}',
      "",
    ]) {
      const result = await call("add", args);
      expect(result.ok, args).to.equal(false);
      expect(result.errorMessage).to.include("'add'");
    }
    const unknown = await call("ad", "{}");
    expect(unknown.errorMessage)
      .to.include("'ad'")
      .and.include("add, plain")
      .and.include("Did you mean 'add'");
    expect(got).to.deep.equal([]);
  });

  it("converts any value that a tool returns to a result", async () => {
    const returning = async (value: unknown): Promise<unknown> => {
      const subject = { name: "t", description: "d", execute: () => value } as AnyTool;
      const { ok, output, structured } = await call("t", "{}", [subject]);
      return [ok, output, structured];
    };
    expect(await returning(undefined)).to.deep.equal([true, "", undefined]);
    expect(await returning("text")).to.deep.equal([true, "text", undefined]);
    expect(await returning({ a: 1 })).to.deep.equal([true, '{"a":1}', { a: 1 }]);
    expect(await returning(Promise.resolve(["x"]))).to.deep.equal([true, '["x"]', ["x"]]);
    expect(await returning(ToolResult.failure("no"))).to.deep.equal([false, "", undefined]);
  });

  it("wraps the error of a tool as the cause; a configuration error passes unchanged", async () => {
    const cause = new Error("broken");
    const throwing = (error: Error): AnyTool => ({
      name: "t",
      description: "d",
      execute: () => {
        throw error;
      },
    });
    const thrown = (error: Error): Promise<unknown> =>
      inTask((scope) =>
        rejection(scope.callTool({ id: "1", name: "t", arguments: "{}" }, [throwing(error)])),
      ).then(({ value }) => value);
    expect(await thrown(cause))
      .to.be.instanceOf(ToolExecutionError)
      .and.include({ toolName: "t", toolInput: "{}", cause });
    const configuration = new ToolConfigurationError("no key");
    expect(await thrown(configuration)).to.equal(configuration);
  });

  it("passes the reason of a rejection, or the answer of a tap, to the model", async () => {
    const only = (name: string, tap: () => unknown, lane: "policy" | "answer"): Plugin =>
      tapping("p", ({ hooks }) =>
        hooks.beforeToolCall.tap({ name: "t", lane: lane as "policy" }, (c) =>
          c.tool.name === name ? (tap() as undefined) : undefined,
        ),
      );
    const work = (scope: TaskScope): Promise<ToolResult> =>
      scope.callTool({ id: "1", name: "plain", arguments: "x" }, [plain]);
    expect(
      (await inTask(work, { plugins: [only("plain", () => reject("not today"), "policy")] })).value,
    ).to.include({ ok: false, errorMessage: "not today" });
    expect(
      (await inTask(work, { plugins: [only("plain", () => answer("canned"), "answer")] })).value,
    ).to.include({ ok: true, output: "canned" });
  });

  it("reports every call in an event and in the trace", async () => {
    const { events, output } = await inTask((scope) =>
      scope.callTool({ id: "1", name: "add", arguments: '{"a":2}' }, [add as AnyTool]),
    );
    expect(
      events.find((event) => event.type === "tool_called" && event.toolName === "add"),
    ).to.deep.include({
      toolArguments: '{"a":2}',
      toolResult: '{"sum":3}',
      structuredResult: { sum: 3 },
      outcome: "SUCCESS",
    });
    expect(output.totalToolCalls).to.equal(2);
  });

  it("records a call whose after tap fails", async () => {
    const broken = tapping("broken", ({ hooks }) =>
      hooks.afterToolCall.tap({ name: "store" }, ({ tool: { name } }) => {
        if (name === "add") throw new Error("disk full");
      }),
    );
    const { value, events, output } = await inTask(
      (scope) =>
        rejection(scope.callTool({ id: "1", name: "add", arguments: '{"a":2}' }, [add as AnyTool])),
      { plugins: [broken] },
    );
    expect(value).to.have.property("code", "AE_PLUGIN");
    const calls = events.filter((event) => event.type === "tool_called");
    expect(calls.map(({ toolName, outcome }) => [toolName, outcome])).to.deep.equal([
      ["add", "FAILURE"],
      ["use-scope", "SUCCESS"],
    ]);
    expect(calls[0]?.toolResult).to.include("disk full");
    expect(output.totalToolCalls).to.equal(2);
  });
});

describe("the gateway of delegation", () => {
  const worker = new Agent({ role: "Writer", goal: "Write" });
  const request = (changes: Partial<DelegationRequest> = {}): DelegationRequest => ({
    taskId: "d1",
    agentRole: "Writer",
    taskDescription: "Write {it}",
    scope: {},
    priority: "NORMAL",
    maxOutputRetries: 0,
    metadata: {},
    ...changes,
  });
  const delegate = async (
    changes: Partial<DelegationRequest> = {},
    options: EnsembleOptions = {},
  ): Promise<{ readonly response: DelegationResponse } & Awaited<ReturnType<typeof runToEnd>>> => {
    const model = new ScriptedModel(
      [{ text: "written", usage: { inputTokens: 5, outputTokens: 1 } }],
      { onExhausted: "repeat-last" },
    );
    const { value, ...ended } = await inTask((scope) => scope.delegate(request(changes)), {
      agents: [worker],
      model,
      ...options,
    });
    return { response: value, ...ended };
  };

  it("runs the task of the worker, and counts its usage", async () => {
    const { response, output, events } = await delegate();
    expect(response).to.include({
      taskId: "d1",
      status: "SUCCESS",
      workerRole: "Writer",
      rawOutput: "written",
    });
    expect(output.metrics).to.include({ totalTokens: 6, delegationCount: 1 });
    expect(output.metrics.ledger[0]).to.include({
      taskId: "task-1.1",
      parentTaskId: "task-1",
      purpose: "worker",
    });
    expect(typesOf(events).filter((type) => type.startsWith("delegation"))).to.deep.equal([
      "delegation_started",
      "delegation_completed",
    ]);
    expect(
      events.find((event) => event.type === "task_started" && event.parentTaskId !== undefined),
    ).to.include({ taskDescription: "Write {it}" });
  });

  it("finds roles in any case and with outer blanks, and shows policies the worker's own spelling", async () => {
    const seen: string[] = [];
    const plugin = tapping("p", ({ hooks }) => {
      hooks.beforeDelegation.tap({ name: "p" }, (call) => void seen.push(call.request.agentRole));
      hooks.beforeDelegation.tap({ name: "t", lane: "transform" }, (call) =>
        replace({ request: { ...call.request, agentRole: " wRITER" } }),
      );
    });
    const { response } = await delegate({ agentRole: "WRITER " }, { plugins: [plugin] });
    expect(response).to.include({ status: "SUCCESS", workerRole: "Writer" });
    expect(seen).to.deep.equal(["Writer"]);
  });

  it("responds with a failure to unknown roles, the same agent and excessive depth, without starting a task", async () => {
    const unknown = await delegate({ agentRole: "Poet" });
    expect(unknown.response).to.deep.include({
      status: "FAILURE",
      errors: ["Agent not found with role 'Poet'. Available roles: [Writer]"],
    });
    expect(typesOf(unknown.events).filter((type) => type.startsWith("delegation"))).to.deep.equal([
      "delegation_failed",
    ]);
    const boss = new Agent({ role: "(deterministic)", goal: "g" });
    expect(
      (await delegate({ agentRole: "(Deterministic)" }, { agents: [boss] })).response.errors[0],
    ).to.match(/^Cannot delegate to yourself/);
    let depth = 0;
    const deeper: Plugin = definePlugin({
      name: "deeper",
      bind: (bind) =>
        void bind.many(Tokens.TaskExecutor).toConstantValue({
          name: "deeper",
          handles: ({ task: spec }) => spec.handler === undefined,
          async execute(_call, scope) {
            depth = scope.depth;
            return {
              raw:
                (
                  await scope.delegate(
                    request({ agentRole: scope.depth % 2 === 1 ? "Other" : "Writer" }),
                  )
                ).errors[0] ?? "",
              toolCallCount: 0,
            };
          },
        }),
    });
    const deep = await delegate(
      {},
      {
        agents: [worker, new Agent({ role: "Other", goal: "g" })],
        maxDelegationDepth: 2,
        plugins: [deeper],
      },
    );
    expect(depth).to.equal(2);
    expect(deep.output.trace.toJson()).to.include(
      "Delegation depth limit reached (max: 2, current: 2). Complete this task yourself without further delegation.",
    );
  });

  it("reports the failure of a worker in a response, with the original reason", async () => {
    const { response, events } = await delegate(
      {},
      { model: new ScriptedModel([new Error("out of ink")]) },
    );
    expect(response.status).to.equal("FAILURE");
    expect(response.errors[0]).to.include("out of ink");
    expect(typesOf(events).filter((type) => type.startsWith("delegation"))).to.deep.equal([
      "delegation_started",
      "delegation_failed",
    ]);
  });

  it("returns the reason of a rejection, the answer of a tap, and a changed response", async () => {
    const model = new ScriptedModel(["never"]);
    const rejected = await delegate(
      {},
      {
        model,
        plugins: [
          tapping("p", ({ hooks }) => hooks.beforeDelegation.tap(() => reject("not to them"))),
        ],
      },
    );
    expect(rejected.response).to.deep.include({ status: "FAILURE", errors: ["not to them"] });
    const canned: DelegationResponse = {
      taskId: "d1",
      status: "SUCCESS",
      workerRole: "Writer",
      rawOutput: "canned",
      errors: [],
      durationMs: 0,
    };
    const answered = await delegate(
      {},
      {
        model,
        plugins: [
          tapping("p", ({ hooks }) =>
            hooks.beforeDelegation.tap({ name: "a", lane: "answer" }, () => answer(canned)),
          ),
        ],
      },
    );
    expect(answered.response.rawOutput).to.equal("canned");
    expect(model.requests).to.deep.equal([]);
    const changed = await delegate(
      {},
      {
        plugins: [
          tapping("p", ({ hooks }) =>
            hooks.afterDelegation.tap(() =>
              replace({ response: { ...canned, status: "PARTIAL" } }),
            ),
          ),
        ],
      },
    );
    expect(changed.response).to.include({ status: "PARTIAL", rawOutput: "canned" });
  });

  it("runs a task of the plan in place of a new one if the request names it", async () => {
    const planned = new Task({ name: "planned", description: "Planned", agent: worker });
    const boss = scoped(
      "boss",
      async (scope) => (await scope.delegate(request(), { taskId: "planned" })).rawOutput,
    );
    const workflow = definePlugin({
      name: "first-only",
      bind: (bind) =>
        void bind.many(Tokens.WorkflowExecutor).toConstantValue({
          name: "FIRST",
          execute: async (plan, run) => {
            const output = await run.runTask(plan.tasks[0]?.id ?? "");
            return { raw: output.raw, taskOutputs: [output] };
          },
        }),
    });
    const { output } = await runToEnd({
      tasks: [boss, planned],
      agents: [worker],
      model: new ScriptedModel(["written"]),
      plugins: [workflow],
      workflow: "FIRST",
    });
    expect(output.raw).to.equal("written");
    expect(output.getOutput(planned)?.raw).to.equal("written");
  });
});

describe("the gateway of memory", () => {
  const entry: MemoryEntry = { content: "milk", storedAt: new Date(0) };
  const remembering = (
    stored: unknown[],
    store: (entry: MemoryEntry) => Promise<void> = async (e) => void stored.push(e.content),
  ): Plugin => {
    const unused = async (): Promise<never> => Promise.reject(new Error("not used"));
    return definePlugin({
      name: "memory",
      bind: (bind) =>
        void bind.single(Tokens.MemoryStore).toConstantValue({
          store: (_scope, e) => store(e),
          retrieve: unused,
          evict: unused,
          clear: unused,
        }),
    });
  };
  const write = (plugins: readonly Plugin[]): ReturnType<typeof runToEnd> =>
    runToEnd({ tasks: [scoped("boss", (scope) => scope.writeMemory("notes", entry))], plugins });

  it("writes the entry, and reports it", async () => {
    const stored: unknown[] = [];
    const { events } = await write([remembering(stored)]);
    expect(stored).to.deep.equal(["milk"]);
    expect(events.find((event) => event.type === "memory_written")).to.include({
      scope: "notes",
      taskId: "task-1",
    });
  });

  it("adds run, task, attempt and role to the metadata; values of the writer win", async () => {
    const stored: MemoryEntry[] = [];
    const metadata = { agentRole: "Archivist", topic: "food" };
    const { output } = await runToEnd({
      tasks: [scoped("boss", (scope) => scope.writeMemory("notes", { ...entry, metadata }))],
      plugins: [remembering([], async (e) => void stored.push(e))],
    });
    expect(stored.map((e) => e.metadata)).to.deep.equal([
      { ...metadata, runId: output.runId, taskId: "task-1", attempt: "1" },
    ]);
  });

  it("writes the transformed entry, and no refused entry", async () => {
    const stored: unknown[] = [];
    await write([
      remembering(stored),
      tapping("p", ({ hooks }) =>
        hooks.beforeMemoryWrite.tap({ name: "t", lane: "transform" }, (call) =>
          replace({ entry: { ...call.entry, content: "tea" } }),
        ),
      ),
    ]);
    expect(stored).to.deep.equal(["tea"]);
    const { events, error } = await write([
      remembering(stored),
      tapping("p", ({ hooks }) => hooks.beforeMemoryWrite.tap(() => reject("private"))),
    ]);
    expect(stored).to.have.length(1);
    expect(error).to.equal(undefined);
    expect(events.flatMap((event) => (event.type === "run_warning" ? [event.message] : [])).join())
      .to.include("private")
      .and.include("notes");
  });

  it("fails the task if there is no store, or if the store fails", async () => {
    expect((await write([])).error).to.have.property("code", "AE_TASK_EXECUTION");
    expect(
      (await write([remembering([], async () => Promise.reject(new Error("disk full")))])).error
        ?.cause,
    )
      .to.have.property("message")
      .that.includes("disk full");
  });
});
