import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { TaskExecutor, ToolContext, WorkflowExecutor } from "agentensemble";
import { Agent, Task, ToolResult, tool } from "agentensemble";
import { jsonTraceExporter } from "agentensemble/observability";
import {
  taskExecutorContract,
  toolContract,
  traceExporterContract,
  workflowContract,
} from "agentensemble/testing";
import { expect } from "chai";
import { z } from "zod";
import { HandlerExecutor } from "../../../src/plugins/agents/handler/handler-executor.js";
import { ReactExecutor } from "../../../src/plugins/agents/react/react-executor.js";
import { untilAborted } from "../../support/kernel-fixtures.js";
import { failuresOf } from "./failures-of.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { pause } from "../../support/time.js";

const speaker = new Agent({ role: "Speaker", goal: "Speak" });
const upper = tool({
  name: "upper",
  description: "Upper-cases a text",
  execute: (input) => input.toUpperCase(),
});
const divide = tool({
  name: "divide",
  description: "Divides a by b",
  input: z.object({
    a: z.number().describe("the dividend"),
    b: z.number().describe("the divisor"),
  }),
  execute: async ({ a, b }) => (
    await pause(),
    b === 0 ? ToolResult.failure("division by zero") : ToolResult.success(String(a / b), a / b)
  ),
});

taskExecutorContract("react", {
  create: () => new ReactExecutor(),
  task: new Task({ description: "Say", agent: speaker }),
  foreign: new Task({ description: "x", handler: () => "x" }),
});
taskExecutorContract("handler", {
  create: () => new HandlerExecutor(),
  task: new Task({ description: "x", handler: (ctx) => ctx.contextOutputs[0]?.raw ?? "" }),
  failing: new Task({
    description: "x",
    handler: (): Promise<string> => Promise.reject(new Error("broken")),
  }),
  foreign: new Task({ description: "Say", agent: speaker }),
});
taskExecutorContract("handler with a tool", {
  create: () => new HandlerExecutor(),
  task: new Task({ description: "x", handler: upper }),
  failing: new Task({
    description: "x",
    handler: tool({
      name: "broken",
      description: "Fails",
      execute: () => {
        throw new Error("broken");
      },
    }),
  }),
});

traceExporterContract("a list", {
  create: () => {
    const ids: string[] = [];
    return { exporter: (trace) => void ids.push(trace.ensembleId), exported: () => ids };
  },
});
traceExporterContract("json", {
  create: () => {
    const dir = temporaryFolder();
    const exported = async (): Promise<readonly string[]> =>
      Promise.all(
        (await readdir(dir)).map(
          async (file) =>
            (JSON.parse(await readFile(join(dir, file), "utf8")) as { readonly ensembleId: string })
              .ensembleId,
        ),
      );
    return { exporter: jsonTraceExporter({ dir }), exported };
  },
});

toolContract("upper", { create: () => upper, valid: ["a", "b"] });
toolContract("divide", {
  create: () => divide,
  valid: [{ a: 1, b: 2 }],
  invalid: [{}, { a: "1", b: 2 }, null],
  failing: [{ a: 1, b: 0 }],
});

describe("the contract suites", () => {
  const workflow = (execute: WorkflowExecutor["execute"]): WorkflowExecutor => ({
    name: "ODD",
    execute,
  });
  const executor = (execute: TaskExecutor["execute"]): TaskExecutor => ({
    name: "odd",
    handles: () => true,
    execute,
  });

  it("detect a workflow that does not wait, loses the context, invents results or ignores the end", async () => {
    const forgetful = workflow(async (plan, run) => {
      void Promise.allSettled(plan.tasks.map(({ id }) => run.runTask(id)));
      return { raw: "made up", taskOutputs: [{ raw: "made up" } as never] };
    });
    expect(
      await failuresOf(() => workflowContract("forgetful", { create: () => forgetful })),
    ).to.include.members([
      "accepts the plan, and leaves it unchanged",
      "waits for all started work",
      "starts no task before the tasks in its context are done",
      "rejects with an error of the framework when every task fails, and waits for work in flight",
      "rejects with the signal of an early exit",
    ]);
    const changing = workflow(
      async (plan) => ((plan.tasks as unknown[]).pop(), { raw: "", taskOutputs: [] }),
    );
    expect(
      await failuresOf(() => workflowContract("changing", { create: () => changing })),
    ).to.include("accepts the plan, and leaves it unchanged");
  });

  it("detect an executor that calls the model directly, returns invalid results or hides failures", async () => {
    const sly = executor(async (_call, scope) => ({
      raw: (await scope.model.chat({ messages: [] })).message.content,
      toolCallCount: 0,
    }));
    expect(
      await failuresOf(() =>
        taskExecutorContract("sly", { create: () => sly, task: Task.of("x") }),
      ),
    ).to.include("calls the model through the scope only");
    const wrong = executor(async () => ({ raw: 5, toolCallCount: -1 }) as never);
    expect(
      await failuresOf(() =>
        taskExecutorContract("wrong", { create: () => wrong, task: Task.of("x") }),
      ),
    ).to.include.members([
      "executes a task, and leaves its call unchanged",
      "rejects with the cause when the work fails",
    ]);
    const ruthless = executor(
      async (call, scope) => (
        await scope.chat({ messages: [] }, { purpose: "task" }).catch(() => undefined),
        { raw: call.task.description, toolCallCount: 0 }
      ),
    );
    expect(
      await failuresOf(() =>
        taskExecutorContract("ruthless", { create: () => ruthless, task: Task.of("x") }),
      ),
    ).to.deep.equal(["rejects with the cause when the work fails"]);
  });

  it("detect an exporter that changes traces or loses them", async () => {
    const losing = (): { exporter: () => void; exported: () => string[] } => ({
      exporter: () => undefined,
      exported: () => [],
    });
    expect(
      await failuresOf(() => traceExporterContract("losing", { create: losing })),
    ).to.have.length(5);
    const changing = {
      exporter: (trace: object): void => void Object.assign(trace, { workflow: "X" }),
    };
    expect(
      await failuresOf(() => traceExporterContract("changing", { create: () => changing })),
    ).to.have.length(5);
  });

  it("detect a tool that changes its input, ignores its signal or returns a value that JSON can't represent", async () => {
    const never = {
      name: "never",
      description: "Never ends",
      execute: (): Promise<string> => new Promise(() => undefined),
    };
    const waiting = {
      name: "waiting",
      description: "Waits",
      execute: async (_input: string, ctx: ToolContext): Promise<string> =>
        untilAborted(ctx.signal),
    };
    const ends = async (subject: typeof waiting): Promise<boolean> =>
      !(await failuresOf(() => toolContract("t", { create: () => subject, valid: [] }))).includes(
        "ends soon after its signal",
      );
    expect([await ends(never), await ends(waiting)]).to.deep.equal([false, true]);
    const changing = {
      ...tool({
        name: "bad",
        description: " x",
        input: z.object({ a: z.number() }),
        execute: (input) => ((input.a = 5), "x"),
      }),
      name: "bad name",
    };
    expect(
      await failuresOf(() =>
        toolContract("changing", {
          create: () => changing,
          valid: [{ a: 1 }],
          invalid: [{ a: 2 }],
        }),
      ),
    ).to.have.members([
      "has a name that models may write, and a description",
      "describes each parameter to the model",
      "accepts the valid inputs and refuses the others before it runs",
      "succeeds with the valid inputs, and leaves them unchanged",
      "runs several calls at once on one object",
      "answers absurd input with a result or an error of the framework",
    ]);
  });

  it("refuse unknown options", () => {
    expect(() => workflowContract("x", { creates: () => undefined } as never)).to.throw(
      "Did you mean 'create'",
    );
    expect(() => taskExecutorContract("x", { creat: 1 } as never)).to.throw("'creat'");
    expect(() => traceExporterContract("x", { creat: 1 } as never)).to.throw("'creat'");
    expect(() => toolContract("x", { creat: 1 } as never)).to.throw("'creat'");
  });
});
