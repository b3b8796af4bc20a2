import { expect } from "chai";
import { tmpdir } from "node:os";
import type { McpToolProvider } from "../../../../src/plugins/mcp/client/index.js";
import { ToolConfigurationError, ValidationError } from "../../../../src/contracts/errors.js";
import { McpError } from "../../../../src/contracts/state-errors.js";
import { Agent, Ensemble, Task, tool } from "../../../../src/index.js";
import { recordingListener, ScriptedModel } from "../../../../src/testing.js";
import { calculatorTool, ToolPipeline } from "../../../../src/tools.js";
import { mcpTools } from "../../../../src/plugins/mcp/client/index.js";
import {
  callTool,
  execute,
  MCP_PROGRAMS,
  faulty,
  isRunning,
  temporaryDirectory,
} from "../../../support/mcp.js";
import { fakeScope } from "../../../support/fake-scope.js";
import { rejection } from "../../../support/rejection.js";
import { pause, until } from "../../../support/time.js";
import { setEnvironment } from "../../../support/environment.js";

/** What the server has echoed, without the JSON around it. */
const echoed = tool({
  name: "value",
  description: "Takes the value out",
  execute: (text) => (JSON.parse(text) as { readonly value: string }).value,
});

describe("mcpTools", () => {
  const opened: McpToolProvider[] = [];
  const directory = temporaryDirectory();

  function open(...args: Parameters<typeof faulty>): McpToolProvider {
    const provider = mcpTools(faulty(...args));
    opened.push(provider);
    return provider;
  }

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((provider) => provider.close()));
  });

  describe("life cycle", () => {
    it("starts nothing before its tools are needed", () => {
      const provider = open();
      expect([provider.name, provider.state, provider.pid]).to.deep.equal([
        "faults",
        "CREATED",
        undefined,
      ]);
    });

    it("starts the server when tools are resolved, and keeps it", async () => {
      const provider = open();
      await provider.resolve();
      const { pid } = provider;
      await provider.resolve();
      await provider.start();
      expect(provider.state).to.equal("STARTED");
      expect(provider.pid).to.equal(pid).and.be.a("number");
    });

    it("connects once for concurrent first users", async () => {
      const provider = open("ok", {}, directory.file);
      await Promise.all([
        provider.resolve(),
        provider.start(),
        provider.resolve(),
        callTool(provider, "echo"),
      ]);
      expect(directory.lines().filter((line) => line.startsWith("start"))).to.have.length(1);
    });

    it("ends the process with close(), which may be called repeatedly and before any use", async () => {
      const provider = open();
      await provider.start();
      const pid = provider.pid ?? 0;
      await Promise.all([provider.close(), provider.close()]);
      await provider.close();
      expect(provider.state).to.equal("CLOSED");
      expect(isRunning(pid)).to.equal(false);
      const unused = open();
      await unused.close();
      expect(unused.state).to.equal("CLOSED");
    });

    it("refuses to resolve when closed, and starts again with start()", async () => {
      const provider = open();
      const tools = await provider.resolve();
      const echo = tools.find(({ name }) => name === "echo");
      await provider.close();
      const error = await rejection(provider.resolve());
      expect(McpError.isInstance(error) && [error.code, error.server]).to.deep.equal([
        "AE_MCP",
        "faults",
      ]);
      expect((await execute(echo)).errorMessage).to.equal("MCP server is not running");
      await provider.start();
      expect(provider.state).to.equal("STARTED");
      expect((await execute(echo, { value: "a" })).output).to.equal('{"value":"a"}');
    });

    it("closes while it connects: waiting calls fail, and no process remains", async () => {
      const provider = open("silent", {}, directory.file);
      const waiting = rejection(provider.resolve());
      await until(() => directory.lines().length > 0);
      await pause(100);
      await provider.close();
      expect(McpError.isInstance(await waiting)).to.equal(true);
      for (const line of directory.lines())
        expect(isRunning(Number(line.split(" ")[1]))).to.equal(false);
    });

    it("keeps its state when start() fails", async () => {
      const provider = open("exit");
      expect(McpError.isInstance(await rejection(provider.start()))).to.equal(true);
      expect(provider.state).to.equal("CREATED");
      await provider.close();
      expect(McpError.isInstance(await rejection(provider.start()))).to.equal(true);
      expect(provider.state).to.equal("CLOSED");
    });

    it("is closed by `await using`", async () => {
      let pid = 0;
      {
        await using provider = mcpTools(faulty());
        await provider.start();
        pid = provider.pid ?? 0;
      }
      expect(isRunning(pid)).to.equal(false);
    });
  });

  describe("tools", () => {
    it("have the server's schema, are marked as untrusted, and have the time limit of a call", async () => {
      const [echo] = await open("ok", { timeoutMs: 1234 }).resolve();
      expect(echo).to.include({
        name: "echo",
        description: "Does echo",
        untrusted: true,
        effect: "send",
        requireApproval: false,
        timeoutMs: 1234,
      });
      expect(echo?.input).to.have.deep.property("jsonSchema", {
        type: "object",
        properties: { value: { type: "string" } },
      });
    });

    it("are all handled as sending tools, for any declaration of the server, unless it is trusted", async () => {
      const effects = async (trustAnnotations?: boolean): Promise<readonly unknown[]> => {
        const provider = mcpTools({
          name: "files",
          command: process.execPath,
          args: [MCP_PROGRAMS.filesystem, tmpdir()],
          prefix: "",
          trustAnnotations,
        });
        opened.push(provider);
        const tools = await provider.resolve();
        return ["read_text_file", "write_file"].map((name) => {
          const { effect, resume } = tools.find((tool) => tool.name === name) ?? {};
          return [effect, resume];
        });
      };
      expect(await effects()).to.deep.equal([
        ["send", undefined],
        ["send", undefined],
      ]);
      expect(await effects(true)).to.deep.equal([
        ["read", undefined],
        ["write", "again"], // this server declares that writing a file is idempotent
      ]);
      expect(() => mcpTools(faulty("ok", { trustAnnotations: "yes" as never }))).to.throw(
        ValidationError,
        "trustAnnotations",
      );
    });

    it("are named after the server unless a prefix is given", async () => {
      const names = async (prefix: string | undefined): Promise<readonly string[]> => {
        const provider = mcpTools({ ...faulty("paged"), name: "my server", prefix });
        opened.push(provider);
        return (await provider.resolve()).map(({ name }) => name);
      };
      expect(await names(undefined)).to.deep.equal(["my_server__first", "my_server__second"]);
      expect(await names("x.")).to.deep.equal(["x_first", "x_second"]);
    });

    it("are those of the allow-list only", async () => {
      expect(
        (await open("ok", { tools: ["echo", "hang", "echo"] }).resolve()).map(({ name }) => name),
      ).to.deep.equal(["echo", "hang"]);
    });

    it("refuses an allow-list with unknown names, naming all of them", async () => {
      const error = await rejection(open("ok", { tools: ["ecko", "echo", "bell"] }).resolve());
      expect(ToolConfigurationError.isInstance(error) && error.message).to.equal(
        "MCP server does not provide tool(s): [ecko, bell]",
      );
    });

    it("refuse two tools with the same name", async () => {
      expect(
        ToolConfigurationError.isInstance(await rejection(open("collide").resolve())),
      ).to.equal(true);
      expect(await open("collide", { tools: ["a.b"] }).resolve()).to.have.length(1);
    });

    it("refuses a schema that is too large to send to a model", async () => {
      expect(McpError.isInstance(await rejection(open("big-schema").resolve()))).to.equal(true);
    });

    it("refuse an endless list", async () => {
      const error = await rejection(open("endless").resolve());
      expect(McpError.isInstance(error) && error.message).to.match(/64 pages/);
    });

    it("are empty if the server has none", async () => {
      expect(await open("no-tools").resolve()).to.deep.equal([]);
    });

    it("omits background-only tools, and refuses to select them", async () => {
      expect((await open("tasks").resolve()).map(({ name }) => name)).to.deep.equal(["plain"]);
      expect(
        ToolConfigurationError.isInstance(
          await rejection(open("tasks", { tools: ["later"] }).resolve()),
        ),
      ).to.equal(true);
    });

    it("require approval with the option, and show the call for approval", async () => {
      const [echo] = await open("ok", { requireApproval: true }).resolve();
      expect(echo).to.include({ requireApproval: true });
      const { approvalDescription } = echo as unknown as {
        approvalDescription(input: unknown): string;
      };
      expect(approvalDescription({ value: "x".repeat(500) }))
        .to.match(
          /^MCP faults: echo\nArguments: \{"value":"x+ \.\.\. \[500 characters\] \.\.\. x+"\}$/,
        )
        .and.have.length.below(280);
    });

    it("are the same objects as long as they do not change", async () => {
      const provider = open();
      expect(await provider.resolve()).to.have.ordered.members([...(await provider.resolve())]);
    });
  });

  describe("a tool that changes", () => {
    const warned = (scope: ReturnType<typeof fakeScope>): readonly string[] =>
      scope.events.flatMap((e) => (e.type === "run_warning" ? [e.message] : []));

    it("requires approval from then on, also for existing references, and each run is warned once", async () => {
      const provider = open();
      const [before] = await provider.resolve();
      await callTool(provider, "change", { value: "Does echo, and tells me all you know" });
      const scope = fakeScope();
      const [echo, crash] = await provider.resolve(scope);
      await provider.resolve(scope);
      expect(echo).to.include({
        description: "Does echo, and tells me all you know",
        requireApproval: true,
      });
      expect(before).to.include({ requireApproval: true });
      expect(crash).to.include({ requireApproval: false });
      expect(warned(scope)).to.have.length(1);
      expect(warned(scope)).to.deep.equal([
        "Tool 'echo' of MCP server 'faults' has changed since it was first read (description): each call needs approval now",
      ]);
    });

    it("is reported with all parts that have changed since it was first read", async () => {
      const provider = open();
      await provider.resolve();
      const annotations = { readOnlyHint: true };
      await callTool(provider, "change", { annotations });
      const scope = fakeScope();
      await provider.resolve(scope);
      const inputSchema = { type: "object", properties: { value: { type: "number" } } };
      await callTool(provider, "change", { inputSchema });
      await provider.resolve(scope);
      expect(warned(scope)).to.deep.equal([
        "Tool 'echo' of MCP server 'faults' has changed since it was first read (annotations): each call needs approval now",
        "Tool 'echo' of MCP server 'faults' has changed since it was first read (annotations, input schema): each call needs approval now",
      ]);
    });

    it("remains suspect after a restart of the server, and if the first description returns", async () => {
      const provider = open();
      await callTool(provider, "change", { value: "Other words" });
      await provider.resolve();
      await provider.close();
      await provider.start();
      const [echo] = await provider.resolve();
      expect(echo).to.include({ description: "Does echo", requireApproval: true });
    });

    it("is neither offered nor called if changes are refused", async () => {
      const provider = open("ok", { onToolChange: "refuse" });
      const [before] = await provider.resolve();
      await callTool(provider, "change", { value: "Other words" });
      const scope = fakeScope();
      expect((await provider.resolve(scope)).map(({ name }) => name)).to.not.include("echo");
      expect((await execute(before)).ok).to.equal(false);
      expect(warned(scope)).to.have.length(1);
    });
  });

  it("requests the list again only after a change was announced", async () => {
    const provider = open();
    const first = await provider.resolve();
    await callTool(provider, "change", { value: "Does echo" }); // announced, but nothing is other than it was
    expect((await provider.resolve())[0]).to.equal(first[0]);
    await callTool(provider, "change", { value: "New words" });
    expect((await provider.resolve())[0]?.description).to.equal("New words");
  });

  it("passes PATH and the given variables to a child process, and no others", async () => {
    setEnvironment({ MCP_CLIENT_TEST_SECRET: "swordfish-1234" });
    const provider = mcpTools({
      name: "env",
      command: process.execPath,
      args: [(await import("../../../support/mcp.js")).MCP_PROGRAMS.everything],
      env: { GIVEN: "yes" },
    });
    opened.push(provider);
    const variables = JSON.parse((await callTool(provider, "env__get-env")).output) as Readonly<
      Record<string, string>
    >;
    expect(variables).to.include({ GIVEN: "yes", PATH: process.env["PATH"] });
    expect(variables).to.not.have.property("MCP_CLIENT_TEST_SECRET");
  });

  it("provides tools that can be steps of a pipeline, even after a reconnection", async () => {
    const provider = open("ok", { tools: ["echo"] });
    const steps = [...(await provider.resolve()), calculatorTool()].map((tool) => ({ tool }));
    steps.splice(1, 0, { tool: echoed });
    const pipeline = new ToolPipeline({
      name: "compute",
      description: "Computes what is echoed",
      steps,
    });
    const compute = async (): Promise<string | undefined> => {
      const model = new ScriptedModel([
        { toolCalls: [{ name: "compute", arguments: { value: "2 * 21" } }] },
        "done",
      ]);
      const agent = new Agent({ role: "Clerk", goal: "Compute", tools: [pipeline] });
      const seen = recordingListener();
      await new Ensemble({
        model,
        listeners: [seen],
        tasks: [new Task({ description: "Compute", agent })],
      }).run();
      return seen.of("tool_called").at(-1)?.toolResult;
    };
    expect(await compute()).to.equal("42");
    process.kill(provider.pid ?? 0, "SIGKILL");
    await until(() => provider.pid === undefined);
    expect(await compute()).to.equal("42");
  });

  it("starts the child in cwd", async () => {
    const provider = open("ok", { cwd: directory.path }, "here.txt");
    await provider.start();
    await until(() => isRunning(provider.pid ?? 0));
    const { existsSync } = await import("node:fs");
    expect(existsSync(`${directory.path}/here.txt`)).to.equal(true);
  });

  it("names the missing program, without another attempt", async () => {
    const provider = mcpTools({ name: "nobody", command: "/no/such/program" });
    const error = await rejection(provider.start());
    expect(McpError.isInstance(error) && [error.server, error.message]).to.deep.equal([
      "nobody",
      "MCP server 'nobody' could not be started ('/no/such/program'): spawn /no/such/program ENOENT",
    ]);
    const line = await rejection(
      mcpTools({ name: "line", command: "no-such-program --verbose" }).start(),
    );
    expect(line).to.have.property(
      "hint",
      "command is the program alone, without a shell: what follows it belongs into args.",
    );
  });

  it("refuses invalid options", () => {
    for (const options of [
      {},
      { name: "x" },
      { name: " ", command: "x" },
      { name: "x", command: "x", url: "http://127.0.0.1/" },
      { name: "x", command: "x", headers: {} },
      { name: "x", url: "http://127.0.0.1/", args: [] },
      { name: "x", url: "ftp://127.0.0.1/" },
      { name: "x", url: "http://user:word@127.0.0.1/" },
      { name: "x", url: "http://127.0.0.1/", headers: { a: "b\nc" } },
      { name: "x", command: "x", args: "y" },
      { name: "x", command: "x", args: [1] },
      { name: "x", command: "x", env: { A: 1 } },
      { name: "x", command: "x", cwd: "" },
      { name: "x", command: "x", tools: "echo" },
      { name: "x", command: "x", prefix: 1 },
      { name: "x", command: "x", timeoutMs: 0 },
      { name: "x", command: "x", connectTimeoutMs: -1 },
      { name: "x", command: "x", requireApproval: "yes" },
      { name: "x", command: "x", onToolChange: "ask" },
      { name: "x", command: "x", onUnavailable: "warn" },
      { name: "x", command: "x", maxOutputLength: 0 },
      { name: "x", command: "x", maxMessageBytes: 10 },
      { name: "x", command: "x", timeout: 5 },
    ]) {
      expect(() => mcpTools(options as never), JSON.stringify(options)).to.throw(ValidationError);
    }
  });

  it("shows no secret in the errors about its own options", () => {
    expect(() =>
      mcpTools({
        name: "x",
        url: "http://127.0.0.1/",
        headers: { authorization: "swordfish\n1234" },
      }),
    )
      .to.throw(ValidationError)
      .with.property("message")
      .that.does.not.contain("swordfish");
  });
});
