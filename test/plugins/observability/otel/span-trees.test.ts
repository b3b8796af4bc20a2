import { expect } from "chai";
import {
  Agent,
  Ensemble,
  Graph,
  Loop,
  Phase,
  Task,
  Workflow,
  tool,
} from "../../../../src/index.js";
import type { TaskContext } from "../../../../src/index.js";
import { testKernel } from "../../../../src/testing.js";
import { otel } from "../../../../src/plugins/observability/otel/index.js";
import { ScriptedModel } from "../../../../src/plugins/testing/index.js";
import { msBetween, RecordedSpans } from "./span-tree.js";
import { pause } from "../../../support/time.js";

const agent = (role: string, more: object = {}): Agent =>
  new Agent({ role, goal: "Do it", ...more });
const echo = tool({ name: "echo", description: "Gives back its input", execute: (input) => input });
const calls = (
  name: string,
  input: object,
): { readonly toolCalls: readonly [{ readonly name: string; readonly arguments: object }] } => ({
  toolCalls: [{ name, arguments: input }],
});

describe("the span tree", () => {
  let spans: RecordedSpans;
  beforeEach(() => (spans = new RecordedSpans()));
  const plugins = (): readonly [ReturnType<typeof otel>] => [
    otel({ tracerProvider: spans.tracerProvider, workflowName: "demo" }),
  ];

  it("of a sequential run: tasks below the run, model and tool calls below their task", async () => {
    const model = new ScriptedModel([calls("echo", { input: "hi" }), "first", "second"]);
    const tasks = [
      new Task({ description: "One", agent: agent("Clerk", { tools: [echo] }) }),
      new Task({ description: "Two", agent: agent("Writer") }),
    ];
    await using ensemble = new Ensemble({ model, tasks, plugins: plugins() });
    await ensemble.run();
    expect(spans.tree()).to.deep.equal([
      "invoke_workflow demo",
      "  invoke_agent Clerk",
      "    chat scripted",
      "    execute_tool echo",
      "    chat scripted",
      "  invoke_agent Writer",
      "    chat scripted",
    ]);
  });

  it("of tasks with handlers, by name", async () => {
    const tasks = [
      new Task({ name: "parse", description: "Parse", handler: () => "x" }),
      new Task({ description: "Echo", handler: echo }),
    ];
    await using ensemble = new Ensemble({ tasks, plugins: plugins() });
    await ensemble.run();
    expect(spans.tree()).to.deep.equal([
      "invoke_workflow demo",
      "  run_task parse",
      "  run_task task-2",
      "    execute_tool echo",
    ]);
  });

  it("of a parallel run", async () => {
    const names = ["a", "b", "c"];
    const tasks = names.map((name) => new Task({ description: name, agent: agent(name) }));
    await using ensemble = new Ensemble({
      model: new ScriptedModel(() => "done"),
      tasks,
      workflow: "PARALLEL",
      plugins: plugins(),
    });
    await ensemble.run();
    const tree = spans.tree();
    expect(tree[0]).to.equal("invoke_workflow demo");
    expect(tree.slice(1)).to.deep.equal(
      names.flatMap((name) => [`  invoke_agent ${name}`, "    chat scripted"]),
    );
  });

  it("of a manager's run: workers below the tool call that requested them", async () => {
    const model = new ScriptedModel([
      {
        toolCalls: [
          { name: "delegateTask", arguments: { agentRole: "Writer", taskDescription: "Write it" } },
        ],
      },
      "written",
      "all done",
    ]);
    const tasks = [new Task({ description: "Report", agent: agent("Writer") })];
    await using ensemble = new Ensemble({
      model,
      tasks,
      workflow: Workflow.HIERARCHICAL,
      plugins: plugins(),
    });
    await ensemble.run();
    expect(spans.tree()).to.deep.equal([
      "invoke_workflow demo",
      "  invoke_agent Manager",
      "    chat scripted",
      "    execute_tool delegateTask",
      "      invoke_agent Writer",
      "        chat scripted",
      "    chat scripted",
    ]);
  });

  it("of phases and of a loop: their tasks in order, with a span for each iteration", async () => {
    const first = new Task({ name: "first", description: "First", handler: () => "1" });
    const second = new Task({ name: "second", description: "Second", handler: () => "2" });
    await using phases = new Ensemble({
      phases: [Phase.of("one", first), new Phase({ name: "two", tasks: [second], after: [] })],
      plugins: plugins(),
    });
    await phases.run();
    expect(spans.tree()).to.have.members([
      "invoke_workflow demo",
      "  run_task one/first",
      "  run_task two/second",
    ]);
    spans.exporter.reset();
    const again = new Task({ name: "again", description: "Again", handler: () => "x" });
    await using loop = new Ensemble({
      loops: [new Loop({ name: "l", tasks: [again], maxIterations: 3 })],
      plugins: plugins(),
    });
    await loop.run();
    expect(spans.tree()).to.deep.equal([
      "invoke_workflow demo",
      "  run_task l/again",
      "  run_task l/again",
      "  run_task l/again",
    ]);
  });

  it("of a graph", async () => {
    const a = new Task({ name: "a", description: "A", handler: () => "1" });
    const b = new Task({ name: "b", description: "B", handler: () => "2" });
    const graph = new Graph({
      name: "g",
      states: { a, b },
      start: "a",
      edges: [
        { from: "a", to: "b" },
        { from: "b", to: Graph.END },
      ],
    });
    await using ensemble = new Ensemble({ graph, plugins: plugins() });
    await ensemble.run();
    expect(spans.tree()).to.deep.equal([
      "invoke_workflow demo",
      "  run_task g/a",
      "  run_task g/b",
    ]);
  });

  it("of delegation with a depth of three", async () => {
    const ask = (agentRole: string): object =>
      calls("delegate", { agentRole, taskDescription: `Ask ${agentRole}` });
    const next: Readonly<Record<string, string>> = { Ann: "Ben", Ben: "Cleo", Cleo: "Dan" };
    const model = new ScriptedModel(({ messages }) => {
      const role = /You are (\w+)/.exec(JSON.stringify(messages))?.[1] ?? "";
      const other = next[role];
      return other === undefined || messages.some((m) => m.role === "tool")
        ? `${role} says so`
        : ask(other); // a step
    });
    const agents = ["Ben", "Cleo", "Dan"].map((role) => agent(role, { allowDelegation: true }));
    const tasks = [
      new Task({ description: "Start", agent: agent("Ann", { allowDelegation: true }) }),
    ];
    await using ensemble = new Ensemble({ model, tasks, agents, plugins: plugins() });
    await ensemble.run();
    const level = (role: string, depth: number, inner: readonly string[]): readonly string[] => {
      const pad = "  ".repeat(depth);
      const asked =
        inner.length === 0
          ? []
          : [`${pad}  execute_tool delegate`, ...inner, `${pad}  chat scripted`];
      return [`${pad}invoke_agent ${role}`, `${pad}  chat scripted`, ...asked];
    };
    expect(spans.tree()).to.deep.equal([
      "invoke_workflow demo",
      ...level("Ann", 1, level("Ben", 3, level("Cleo", 5, level("Dan", 7, [])))),
    ]);
  });

  it("of two delegations in one turn: each worker below the call that requested it", async () => {
    const both = ["Ben", "Cleo"].map((agentRole) => ({
      name: "delegate",
      arguments: { agentRole, taskDescription: `Ask ${agentRole}` },
    }));
    const model = new ScriptedModel(({ messages }) =>
      !JSON.stringify(messages).includes("You are Ann") || messages.some((m) => m.role === "tool")
        ? "done"
        : { toolCalls: both },
    );
    const tasks = [
      new Task({ description: "Start", agent: agent("Ann", { allowDelegation: true }) }),
    ];
    await using ensemble = new Ensemble({
      model,
      tasks,
      agents: [agent("Ben"), agent("Cleo")],
      plugins: [otel({ tracerProvider: spans.tracerProvider, captureContent: true })],
    });
    await ensemble.run();
    for (const role of ["Ben", "Cleo"]) {
      const parent = spans.one(`invoke_agent ${role}`).parentSpanContext?.spanId;
      const call = spans
        .named("execute_tool delegate")
        .find((span) => span.spanContext().spanId === parent);
      expect(call?.attributes["gen_ai.tool.call.arguments"]).to.include(`Ask ${role}`);
    }
  });

  it("of a run inside a handler, joined to it: below the handler's task", async () => {
    const kernel = testKernel([...plugins()]);
    const inner = new Ensemble({
      tasks: [new Task({ name: "inner", description: "Inner", handler: () => "x" })],
      kernel,
    });
    const handler = async (ctx: TaskContext): Promise<string> =>
      (await inner.run({}, { parent: ctx.run })).raw;
    await new Ensemble({
      tasks: [new Task({ name: "outer", description: "Outer", handler })],
      kernel,
    }).run();
    await kernel.dispose();
    expect(spans.tree()).to.deep.equal([
      "invoke_workflow demo",
      "  run_task outer",
      "    invoke_workflow demo",
      "      run_task inner",
    ]);
  });

  it("of twenty concurrent runs: none has a span of another, and all times lie within those of the parent", async () => {
    const model = new ScriptedModel(async ({ messages }) => {
      await pause(messages.length);
      return messages.some((m) => m.role === "tool") ? "done" : calls("echo", { input: "same" });
    });
    const tasks = ["a", "b"].map(
      (name) => new Task({ name, description: name, agent: agent(name, { tools: [echo] }) }),
    );
    await using ensemble = new Ensemble({
      model,
      tasks,
      workflow: "PARALLEL",
      plugins: [otel({ tracerProvider: spans.tracerProvider })],
    });
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => ensemble.run({}, { runId: `run-${i}` })),
    );
    const roots = spans.named("invoke_workflow");
    expect(roots).to.have.length(20);
    for (const root of roots) {
      const { traceId } = root.spanContext();
      const own = spans.all.filter((span) => span.spanContext().traceId === traceId);
      expect(own.map(({ name }) => name).sort()).to.deep.equal(
        [
          "invoke_workflow",
          "invoke_agent a",
          "invoke_agent b",
          "execute_tool echo",
          "execute_tool echo",
          ...Array<string>(4).fill("chat scripted"),
        ].sort(),
      );
      for (const span of own) {
        expect(span.attributes["agentensemble.run.id"]).to.equal(
          root.attributes["agentensemble.run.id"],
        );
        const parent = own.find(
          (other) => other.spanContext().spanId === span.parentSpanContext?.spanId,
        );
        if (parent === undefined) continue;
        expect(msBetween(parent.startTime, span.startTime)).to.be.at.least(0);
        expect(msBetween(span.endTime, parent.endTime)).to.be.at.least(0);
      }
    }
  });
});
