import { expect } from "chai";
import type { EnsembleEvent } from "../../../../src/index.js";
import {
  Agent,
  Ensemble,
  Kernel,
  McpError,
  Task,
  TaskExecutionError,
  ToolConfigurationError,
  ValidationError,
} from "../../../../src/index.js";
import { mcp, mcpTools } from "../../../../src/mcp.js";
import { standardPlugins } from "../../../../src/ensemble/standard-plugins.js";
import { ScriptedModel } from "../../../../src/testing.js";
import { faulty, isRunning, MCP_PROGRAMS, temporaryDirectory } from "../../../support/mcp.js";
import { until } from "../../../support/time.js";
import { rejection, rejectionOf } from "../../../support/rejection.js";

const echoing = (): ScriptedModel =>
  new ScriptedModel([{ toolCalls: [{ name: "echo", arguments: { value: "a" } }] }, "Done"]);
/** The last message of a request: what a tool gave back. */
const lastOf = (model: ScriptedModel, request: number): string => {
  const content = model.requests[request]?.messages.at(-1)?.content;
  return typeof content === "string" ? content : "";
};
const pidOf = (line: string): number => Number(line.split(" ")[1]);

describe("mcp", () => {
  let directory = temporaryDirectory();

  beforeEach(() => {
    directory = temporaryDirectory();
  });

  const started = (): readonly number[] =>
    directory
      .lines()
      .filter((line) => line.startsWith("start"))
      .map(pidOf);

  it("offers the tools to every agent, calls them for the model, and ends the server with the ensemble", async () => {
    const model = echoing();
    const events: EnsembleEvent[] = [];
    const ensemble = new Ensemble({
      model,
      tasks: [Task.of("Echo")],
      plugins: [mcp({ servers: [faulty("ok", {}, directory.file)] })],
      on: (event) => events.push(event),
    });
    expect((await ensemble.run()).raw).to.equal("Done");
    expect(model.requests[0]?.tools?.map(({ name }) => name)).to.include("echo");
    expect(lastOf(model, 1)).to.match(/comes from outside[^]*\n\{"value":"a"\}\n/); // marked as data
    expect(events.find(({ type }) => type === "tool_called")).to.include({
      toolName: "echo",
      outcome: "SUCCESS",
    });
    await ensemble.dispose();
    expect(started().map(isRunning)).to.deep.equal([false]);
  });

  it("starts no server for a run without agents", async () => {
    await using ensemble = new Ensemble({
      tasks: [new Task({ description: "Count", handler: () => "3" })],
      plugins: [mcp({ servers: [faulty("ok", {}, directory.file)] })],
    });
    await ensemble.run();
    expect(directory.lines()).to.deep.equal([]);
  });

  it("keeps the secrets in its servers' options out of traces, and keeps other words", async () => {
    const servers = [
      {
        name: "local",
        command: "never-started",
        env: { LICENCE_KEY: "swordfish-1", LANG_NAME: "some language" },
      },
      {
        name: "remote",
        url: "http://127.0.0.1:9/mcp?token=swordfish-2",
        headers: { authorization: "Custom swordfish-3", accept: "text/plain" },
      },
    ];
    await using ensemble = new Ensemble({
      tasks: [new Task({ description: "Say", handler: ({ inputs }) => String(inputs["text"]) })],
      plugins: [mcp({ servers })],
    });
    const { raw, trace } = await ensemble.run({
      text: "swordfish-1, swordfish-2, swordfish-3, some language, text/plain",
    });
    expect(raw).to.include("swordfish-1");
    expect(trace.taskTraces[0]?.finalOutput).to.equal(
      "[redacted], [redacted], [redacted], some language, text/plain",
    );
  });

  it("shares a server among tasks, runs and ensembles of a kernel", async () => {
    const kernel = new Kernel({
      plugins: [...standardPlugins(), mcp({ servers: [faulty("ok", {}, directory.file)] })],
    });
    const team = (): Ensemble =>
      new Ensemble({
        kernel,
        model: new ScriptedModel(() => "x"),
        workflow: "PARALLEL",
        tasks: ["a", "b", "c"].map((name) => new Task({ name, description: name })),
      });
    await Promise.all([team().run(), team().run()]);
    expect(started()).to.have.length(1);
    await kernel.dispose();
    expect(started().map(isRunning)).to.deep.equal([false]);
  });

  it("fails only the tasks of agents of an unavailable server, with an McpError", async () => {
    const tasks = [
      new Task({ name: "plain", description: "Count", handler: () => "3" }),
      new Task({ name: "agent", description: "Think" }),
    ];
    await using ensemble = new Ensemble({
      model: new ScriptedModel(() => "x"),
      tasks,
      plugins: [mcp({ servers: [faulty("exit")] })],
    });
    const error = await rejectionOf(TaskExecutionError, ensemble.run());
    expect(error.cause).to.be.instanceOf(McpError).with.property("server", "faults");
    expect(error.completedTaskOutputs.map(({ raw }) => raw)).to.deep.equal(["3"]);
  });

  it("continues without an unavailable server if all options allow it, with a warning", async () => {
    const warnings: string[] = [];
    await using ensemble = new Ensemble({
      model: new ScriptedModel(() => "x"),
      tasks: [Task.of("Think"), Task.of("Think again")],
      plugins: [mcp({ onUnavailable: "skip", servers: [faulty("exit")] })],
      on: (event) => void (event.type === "run_warning" && warnings.push(event.message)),
    });
    expect((await ensemble.run()).raw).to.equal("x");
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.contain("'faults'");
  });

  it("uses the option of a server in place of the shared option", async () => {
    const plugin = mcp({
      onUnavailable: "skip",
      servers: [faulty("exit", { onUnavailable: "fail" })],
    });
    await using ensemble = new Ensemble({
      model: new ScriptedModel(() => "x"),
      tasks: [Task.of("Think")],
      plugins: [plugin],
    });
    expect(TaskExecutionError.isInstance(await rejection(ensemble.run()))).to.equal(true);
  });

  it("reports a failed call to the model, and the run continues", async () => {
    const model = new ScriptedModel([
      { toolCalls: [{ name: "crash", arguments: {} }] },
      { toolCalls: [{ name: "echo", arguments: {} }] },
      "Done",
    ]);
    await using ensemble = new Ensemble({
      model,
      tasks: [Task.of("Try")],
      plugins: [mcp({ servers: [faulty()] })],
    });
    expect((await ensemble.run()).raw).to.equal("Done");
    expect(lastOf(model, 1)).to.contain("Tool error: MCP server 'faults' failed: ");
    expect(lastOf(model, 2)).to.contain("\n{}\n");
  });

  it("reports a call that takes too long to the model", async () => {
    const model = new ScriptedModel([{ toolCalls: [{ name: "hang", arguments: {} }] }, "Done"]);
    await using ensemble = new Ensemble({
      model,
      tasks: [Task.of("Try")],
      plugins: [mcp({ timeoutMs: 100, servers: [faulty("ok", {}, directory.file)] })],
    });
    expect((await ensemble.run()).raw).to.equal("Done");
    expect(lastOf(model, 1)).to.contain("Tool error: Tool 'hang' did not finish within 100 ms");
    await until(() => directory.lines().some((line) => line.startsWith("cancelled")));
  });

  it("cancels with the run, and dispose leaves no process", async () => {
    const ensemble = new Ensemble({
      model: new ScriptedModel([{ toolCalls: [{ name: "hang", arguments: {} }] }]),
      tasks: [Task.of("Try")],
      plugins: [mcp({ servers: [faulty("ok", {}, directory.file)] })],
    });
    const handle = rejection(ensemble.run());
    await until(() => directory.lines().includes("hanging"));
    await ensemble.dispose();
    expect(await handle).to.be.instanceOf(Error);
    expect(started().map(isRunning)).to.deep.equal([false]);
  });

  it("ends a server that hangs at the handshake when the kernel is disposed", async () => {
    const ensemble = new Ensemble({
      model: echoing(),
      tasks: [Task.of("Try")],
      plugins: [mcp({ servers: [faulty("silent", {}, directory.file)] })],
    });
    const run = rejection(ensemble.run());
    await until(() => directory.lines().length > 0);
    await ensemble.dispose();
    await run;
    expect(started().map(isRunning)).to.deep.equal([false]);
  });

  it("may be shared by two kernels: the server ends with the last kernel, and starts again for a third", async () => {
    const plugin = mcp({ servers: [faulty("ok", {}, directory.file)] });
    const make = (): Ensemble =>
      new Ensemble({ model: echoing(), tasks: [Task.of("Echo")], plugins: [plugin] });
    const [first, second] = [make(), make()];
    await Promise.all([first.run(), second.run()]);
    await first.dispose();
    expect(started().map(isRunning)).to.deep.equal([true]);
    await second.dispose();
    expect(started().map(isRunning)).to.deep.equal([false]);
    const third = make();
    await third.run();
    await third.dispose();
    expect(started().map(isRunning)).to.deep.equal([false, false]);
  });

  it("fails a task whose agent would have two tools with the same name", async () => {
    await using own = mcpTools(faulty());
    await using ensemble = new Ensemble({
      model: echoing(),
      tasks: [
        new Task({
          description: "Echo",
          agent: new Agent({ role: "Echo", goal: "Echo", tools: [own] }),
        }),
      ],
      plugins: [mcp({ servers: [faulty()] })],
    });
    const error = await rejectionOf(TaskExecutionError, ensemble.run());
    expect(error.cause).to.be.instanceOf(ToolConfigurationError);
  });

  it("uses prompts of the ensemble for its notes in results", async () => {
    const model = new ScriptedModel([
      { toolCalls: [{ name: "all__get-tiny-image", arguments: {} }] },
      "Done",
    ]);
    await using ensemble = new Ensemble({
      model,
      tasks: [Task.of("Look")],
      prompts: { "mcp.part": "({kind} of {bytes})" },
      plugins: [
        mcp({
          servers: [{ name: "all", command: process.execPath, args: [MCP_PROGRAMS.everything] }],
        }),
      ],
    });
    await ensemble.run();
    expect(lastOf(model, 1)).to.match(/\(image of \d+\)/);
  });

  it("refuses invalid options", () => {
    const server = { name: "x", command: "x" };
    for (const options of [
      {},
      { servers: [] },
      { servers: "x" },
      { servers: [server, server] },
      { servers: [server], timeout: 1 },
      { servers: [server], timeoutMs: 0 },
      { servers: [{}] },
    ]) {
      expect(() => mcp(options as never), JSON.stringify(options)).to.throw(ValidationError);
    }
  });

  it("names the similar option for an unknown one", () => {
    expect(() => mcp({ servers: [{ name: "x", command: "x", timeOutMs: 5 } as never] })).to.throw(
      ValidationError,
      "timeoutMs",
    );
  });
});
