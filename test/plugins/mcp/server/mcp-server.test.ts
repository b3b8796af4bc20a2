import { InMemoryTransport, Client } from "@modelcontextprotocol/client";
import { expect } from "chai";
import { execFile } from "node:child_process";
import { once, EventEmitter } from "node:events";
import { inspect, promisify } from "node:util";
import { z } from "zod";
import {
  Agent,
  definePlugin,
  Ensemble,
  RateLimit,
  reject,
  replace,
  Task,
  tool,
  Tokens,
  ValidationError,
  type AnyTool,
  type EnsembleEvent,
} from "agentensemble";
import { Kernel } from "agentensemble/kernel";
import { mcpServer, type McpServer, type McpServingOptions } from "agentensemble/mcp";
import { ScriptedModel } from "agentensemble/testing";
import type { Called } from "./clients.js";
import { offeringServer } from "../../../support/mcp-offers.js";
import { projectRoot } from "../../../support/project.js";
import { rejection, rejectionOf } from "../../../support/rejection.js";
import { pause } from "../../../support/time.js";

const echo = tool({ name: "echo", description: "Says it again", execute: (text) => text });
const textOf = (result: Called): string | undefined => result.content[0]?.text;

describe("mcpServer()", () => {
  const servers: McpServer[] = [];
  const clients: Client[] = [];

  async function clientOf(server: McpServer): Promise<Client> {
    servers.push(server);
    const [near, far] = InMemoryTransport.createLinkedPair();
    void server.serve(near);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(far);
    clients.push(client);
    return client;
  }
  const ask = async (
    options: McpServingOptions,
    name: string,
    args: Record<string, unknown> = { input: "hi" },
  ): Promise<Called> =>
    (await (await clientOf(mcpServer(options))).callTool({ name, arguments: args })) as Called;
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  it("applies one rate limit to all its tasks, including calls that request progress", async () => {
    const model = new ScriptedModel(() => "Hello");
    const client = await clientOf(
      mcpServer({
        model,
        rateLimit: RateLimit.of(1, 60_000).with({ waitTimeoutMs: 20 }),
        tasks: [
          new Task({ name: "greet", description: "Say hello" }),
          new Task({ name: "part", description: "Say goodbye" }),
        ],
      }),
    );
    const call = async (name: string): Promise<Called> =>
      (await client.callTool({ name, arguments: {} }, { onprogress: () => undefined })) as Called;
    expect(textOf(await call("greet"))).to.equal("Hello");
    expect((await call("part")).isError).to.equal(true);
    expect((await call("greet")).isError).to.equal(true);
    expect(model.requests).to.have.length(1);
  });

  describe("refuses when it is created", () => {
    const named = (name: string): AnyTool => ({ name, description: "d", execute: () => "" });
    for (const [what, options, part] of [
      ["nothing to offer", {}, "nothing to offer"],
      ["an unknown option", { tols: [echo] }, "tools"],
      [
        "options that decide what an ensemble does",
        { tools: [echo], workflow: "PARALLEL" },
        "workflow",
      ],
      ["an invalid option of the ensemble", { tools: [echo], listeners: 7 }, "listeners"],
      ["a blank name", { tools: [echo], name: " " }, "name"],
      ["a blank version", { tools: [echo], version: "" }, "version"],
      ["blank instructions", { tools: [echo], instructions: "" }, "instructions"],
      ["a value that is not a tool", { tools: [7] }, "index 0"],
      ["a provider of tools", { tools: [{ resolve: () => [] }] }, "tools[0]"],
      ["a value that is not a task", { tasks: [{ description: "x" }] }, "tasks[0]"],
      ["tools that are not a list", { tools: echo }, "tools"],
      ["a name that clients refuse", { tools: [named("say hello")] }, "say hello"],
      ["a name that is too long", { tools: [named("x".repeat(65))] }, "xxx"],
      ["two tools with one name", { tools: [echo, echo] }, "echo"],
      [
        "a tool and a task with one name",
        { tools: [echo], tasks: [new Task({ name: "echo", description: "d", handler: () => "" })] },
        "'echo'",
      ],
      [
        "two tasks with equal derived names",
        {
          tasks: [
            new Task({ name: "a b", description: "d" }),
            new Task({ name: "a.b", description: "d" }),
          ],
        },
        "'a_b'",
      ],
      [
        "an input that is not an object",
        { tools: [tool({ name: "n", description: "d", input: z.number(), execute: String })] },
        "'n'",
      ],
      [
        "an input without JSON Schema",
        {
          tools: [
            tool({
              name: "n",
              description: "d",
              input: z.object({ d: z.date() }),
              execute: String,
            }),
          ],
        },
        "'n'",
      ],
      ["maxConcurrentCalls", { tools: [echo], maxConcurrentCalls: 0 }, "maxConcurrentCalls"],
      ["maxWaitingCalls", { tools: [echo], maxWaitingCalls: -1 }, "maxWaitingCalls"],
      ["callTimeoutMs", { tools: [echo], callTimeoutMs: 0 }, "callTimeoutMs"],
      ["maxMessageBytes", { tools: [echo], maxMessageBytes: 0 }, "maxMessageBytes"],
      ["onError", { tools: [echo], onError: 7 }, "onError"],
      ["plugins that are not a list", { tools: [echo], plugins: 7 }, "plugins"],
      ["a value that is not a kernel", { tools: [echo], kernel: {} }, "kernel"],
    ] as const) {
      it(what, () => {
        expect(() => mcpServer(options as unknown as McpServingOptions))
          .to.throw(ValidationError)
          .with.property("message")
          .that.includes(part);
      });
    }

    it("plugins for a kernel that has booted", async () => {
      const kernel = new Kernel();
      await kernel.boot();
      expect(() =>
        mcpServer({ tools: [echo], kernel, plugins: [definePlugin({ name: "late" })] }),
      ).to.throw(ValidationError, "too late");
      await kernel.dispose();
    });

    it("when it begins to serve: a schema of an unknown dialect", async () => {
      const odd = tool({
        name: "odd",
        description: "d",
        input: { $schema: "https://example.test/odd", type: "object" },
        execute: () => "",
      });
      const server = mcpServer({ tools: [odd] });
      servers.push(server);
      expect((await rejectionOf(ValidationError, server.http())).message).to.include("'odd'");
    });

    it("when it begins to serve: a plugin that does not start", async () => {
      const broken = definePlugin({
        name: "broken",
        start: () => Promise.reject(new Error("no disk")),
      });
      const server = mcpServer({ tools: [echo], plugins: [broken] });
      expect(await rejection(server.http())).to.have.property("code", "AE_PLUGIN");
      await server.close();
    });
  });

  it("matches the patterns of a tool's schema in linear time", async () => {
    const checked = tool({
      name: "checked",
      description: "d",
      input: { type: "object", properties: { text: { type: "string", pattern: "^(a+)+$" } } },
      execute: () => "ok",
    });
    const refused = await ask({ tools: [checked] }, "checked", { text: `${"a".repeat(30)}!` });
    expect(textOf(refused)).to.equal(
      "Invalid input for tool 'checked': text: String does not match pattern.",
    );
    expect(textOf(await ask({ tools: [checked] }, "checked", { text: "aaa" }))).to.equal("ok");
  });

  it("refuses a pattern that the engine does not support when it begins to serve", async () => {
    const input = { type: "object", properties: { text: { pattern: "a{1,5000}" } } };
    const odd = tool({ name: "odd", description: "d", input, execute: () => "" });
    const server = mcpServer({ tools: [odd] });
    servers.push(server);
    const { message } = await rejectionOf(ValidationError, server.http());
    expect(message).to.include("'odd'").and.include("a{1,5000}");
  });

  describe("creates tools from tasks", () => {
    const toolsOf = async (
      options: McpServingOptions,
    ): Promise<Awaited<ReturnType<Client["listTools"]>>["tools"]> =>
      (await (await clientOf(mcpServer(options))).listTools()).tools;
    const handler = (): string => "done";

    it("with names that every client accepts", async () => {
      const tasks = [
        new Task({ name: "Größe: messen!", description: "d", handler }),
        new Task({ description: "Find the three oldest oak trees in {park}, then rest", handler }),
        new Task({ name: "!!!", description: "d", handler }),
        new Task({ name: "y".repeat(100), description: "d", handler }),
      ];
      expect((await toolsOf({ tasks })).map(({ name }) => name)).to.deep.equal([
        "Gr_e_messen",
        "find_the_three_oldest_oak_trees",
        "task",
        "y".repeat(64),
      ]);
    });

    it("whose arguments are the variables of all texts, including those of the context, each once", async () => {
      const first = new Task({
        name: "first",
        description: "About {topic} in {{braces}}",
        handler,
      });
      const second = new Task({
        name: "second",
        description: "More of {topic}",
        expectedOutput: "In {language}",
        context: [first],
        handler,
      });
      const [{ inputSchema } = { inputSchema: {} }] = await toolsOf({ tasks: [second] });
      expect(inputSchema).to.deep.equal({
        type: "object",
        properties: { topic: { type: "string" }, language: { type: "string" } },
        required: ["topic", "language"],
        additionalProperties: false,
      });
    });

    it("`inputs` fill variables, and remove them from the arguments", async () => {
      const task = new Task({
        name: "t",
        description: "About {topic} in {language}",
        handler: ({ description }) => description,
      });
      const client = await clientOf(mcpServer({ tasks: [task], inputs: { language: "Danish" } }));
      expect((await client.listTools()).tools[0]?.inputSchema.required).to.deep.equal(["topic"]);
      expect(
        textOf(
          (await client.callTool({ name: "t", arguments: { topic: "{language}" } })) as Called,
        ),
      ).to.equal("About {language} in Danish");
    });

    it("announces a schema only for objects, and none for the output of a transforming schema", async () => {
      const tools = await toolsOf({
        tasks: [
          new Task({
            name: "list",
            description: "d",
            outputType: z.array(z.string()),
            handler: () => ["a"],
          }),
          new Task({
            name: "changed",
            description: "d",
            outputType: z.object({ n: z.string().transform(Number) }),
            handler: () => '{"n":"5"}',
          }),
        ],
      });
      expect(tools.map((t) => "outputSchema" in t)).to.deep.equal([false, false]);
    });

    it("sends the value that a schema returned", async () => {
      const task = new Task({
        name: "changed",
        description: "d",
        outputType: z.object({ n: z.string().transform(Number) }),
        handler: () => '{"n":"5"}',
      });
      expect((await ask({ tasks: [task] }, "changed", {})).structuredContent).to.deep.equal({
        n: 5,
      });
    });

    it("does not send a value that violates the JSON Schema next to the validator", async () => {
      const errors: Error[] = [];
      const outputType = {
        schema: z.object({ n: z.string().transform(Number) }),
        jsonSchema: { type: "object", properties: { n: { type: "string" } } },
      };
      const task = new Task({
        name: "changed",
        description: "d",
        outputType,
        handler: () => '{"n":"5"}',
      });
      const result = await ask(
        { tasks: [task], onError: (error) => errors.push(error) },
        "changed",
        {},
      );
      expect(result.isError).to.equal(true);
      expect(errors[0]).to.be.instanceOf(ValidationError);
    });

    it("uses the given model for tasks without a model, and agents for delegation", async () => {
      const model = new ScriptedModel(["from the model"]);
      expect(
        textOf(await ask({ tasks: [new Task({ name: "t", description: "d" })], model }, "t", {})),
      ).to.equal("from the model");
      const lead = new Agent({ role: "Lead", goal: "g", allowDelegation: true });
      const asking = new ScriptedModel((request) =>
        request.tools?.some(({ name }) => name === "delegate") === true &&
        request.messages.at(-1)?.role === "user"
          ? {
              toolCalls: [
                { name: "delegate", arguments: { agentRole: "Helper", taskDescription: "help" } },
              ],
            }
          : "ok",
      );
      const options = {
        tasks: [new Task({ name: "t", description: "d", agent: lead })],
        agents: [new Agent({ role: "Helper", goal: "g" })],
        model: asking,
      };
      expect(textOf(await ask(options, "t", {}))).to.equal("ok");
      expect(
        asking.requests.some(({ messages }) => JSON.stringify(messages).includes("Helper")),
      ).to.equal(true);
    });

    it("reports a missing model to the client", async () => {
      const result = await ask({ tasks: [new Task({ name: "t", description: "d" })] }, "t", {});
      expect(result.isError).to.equal(true);
      expect(textOf(result)).to.match(/model/i);
    });
  });

  describe("creates a run for every call", () => {
    it("with hooks: policies refuse, transforms change", async () => {
      const guard = definePlugin({
        name: "guard",
        apply({ hooks }) {
          hooks.beforeToolCall.tap({ name: "change", lane: "transform" }, ({ input }) =>
            replace({ input: `${String(input)}!` }),
          );
          hooks.beforeToolCall.tap({ name: "judge", lane: "policy" }, ({ input }) =>
            String(input).includes("secret") ? reject("not that") : undefined,
          );
        },
      });
      const client = await clientOf(mcpServer({ tools: [echo], plugins: [guard] }));
      expect(
        textOf((await client.callTool({ name: "echo", arguments: { input: "hi" } })) as Called),
      ).to.equal("hi!");
      expect(
        await client.callTool({ name: "echo", arguments: { input: "a secret" } }),
      ).to.deep.include({
        isError: true,
        content: [{ type: "text", text: "not that" }],
      });
    });

    it("with events, a trace and a scope for the tool", async () => {
      const events: EnsembleEvent[] = [];
      const traces: unknown[] = [];
      const roles: string[] = [];
      const scoped = tool({
        name: "scoped",
        description: "d",
        execute: (text, { scope, runId, agentRole }) => {
          roles.push(agentRole);
          return scope.run.id === runId ? text : "another run";
        },
      });
      const result = await ask(
        {
          tools: [scoped],
          on: (e) => events.push(e),
          traceExporter: (trace) => void traces.push(trace),
        },
        "scoped",
      );
      expect(textOf(result)).to.equal("hi");
      expect(events.map(({ type }) => type)).to.deep.equal([
        "ensemble_started",
        "run_planned",
        "task_started",
        "tool_started",
        "tool_called",
        "task_completed",
        "ensemble_completed",
      ]);
      expect(traces).to.have.lengthOf(1);
      expect(roles).to.deep.equal(["(deterministic)"]);
    });

    it("on the given kernel, which remains when the server closes", async () => {
      let disposed = 0;
      const kernel = new Kernel({
        plugins: [definePlugin({ name: "counted", dispose: () => void disposed++ })],
      });
      kernel.container.bind(Tokens.ChatModel).toConstantValue(new ScriptedModel(["bound"]));
      const server = mcpServer({ tasks: [new Task({ name: "t", description: "d" })], kernel });
      const client = await clientOf(server);
      expect(textOf((await client.callTool({ name: "t", arguments: {} })) as Called)).to.equal(
        "bound",
      );
      await server.close();
      expect(disposed).to.equal(0);
      await new Ensemble({
        kernel,
        tasks: [new Task({ description: "d", handler: () => "still there" })],
      }).run();
      await kernel.dispose();
      expect(disposed).to.equal(1);
    });

    it("on its own kernel otherwise, which ends with it", async () => {
      let disposed = 0;
      const server = mcpServer({
        tools: [echo],
        plugins: [definePlugin({ name: "counted", dispose: () => void disposed++ })],
      });
      await clientOf(server);
      await server[Symbol.asyncDispose]();
      expect(disposed).to.equal(1);
    });
  });

  describe("applies its limits", () => {
    /** A tool that waits until it is let go, and how many calls of it run. */
    function gate(): {
      readonly hold: AnyTool;
      readonly letGo: () => void;
      readonly most: () => number;
      readonly started: EventEmitter;
    } {
      const started = new EventEmitter();
      let open: () => void = () => undefined;
      const opened = new Promise<void>((resolve) => (open = resolve));
      let running = 0;
      let most = 0;
      const hold = tool({
        name: "hold",
        description: "d",
        execute: async (text) => {
          most = Math.max(most, ++running);
          started.emit("started");
          await opened;
          running--;
          return text;
        },
      }) as AnyTool;
      return { hold, letGo: open, most: () => most, started };
    }

    it("executes maxConcurrentCalls concurrently, queues maxWaitingCalls, and refuses one more", async () => {
      const { hold, letGo, most, started } = gate();
      const client = await clientOf(
        mcpServer({ tools: [hold], maxConcurrentCalls: 2, maxWaitingCalls: 3 }),
      );
      const first = once(started, "started");
      const calls = Array.from({ length: 6 }, (_, i) =>
        client.callTool({ name: "hold", arguments: { input: String(i) } }),
      );
      await first;
      expect(textOf((await calls[5]) as Called)).to.include("busy");
      letGo();
      const results = (await Promise.all(calls)) as Called[];
      expect(results.map(textOf).slice(0, 5)).to.deep.equal(["0", "1", "2", "3", "4"]);
      expect(most()).to.equal(2);
    });

    it("cancels a waiting call on request", async () => {
      const { hold, letGo, started } = gate();
      const client = await clientOf(
        mcpServer({ tools: [hold], maxConcurrentCalls: 1, maxWaitingCalls: 1 }),
      );
      const first = once(started, "started");
      const running = client.callTool({ name: "hold", arguments: { input: "a" } });
      await first;
      const cancel = new AbortController();
      const waiting = rejection(
        client.callTool({ name: "hold", arguments: { input: "b" } }, { signal: cancel.signal }),
      );
      await pause(20);
      cancel.abort();
      await waiting;
      await pause(20);
      const next = client.callTool({ name: "hold", arguments: { input: "c" } }); // its place is free again
      letGo();
      expect(textOf((await next) as Called)).to.equal("c");
      expect(textOf((await running) as Called)).to.equal("a");
    });

    it("callTimeoutMs ends a call", async () => {
      const result = await ask({ tools: [gate().hold], callTimeoutMs: 30 }, "hold");
      expect(result).to.deep.include({
        isError: true,
        content: [{ type: "text", text: "The run did not finish within 30 ms" }],
      });
    });

    it("maxMessageBytes holds for HTTP and stdio", async () => {
      const server = mcpServer({ tools: [echo], maxMessageBytes: 10 });
      servers.push(server);
      const { url } = await server.http();
      expect(
        (
          await fetch(url, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: '{"jsonrpc":1}',
          })
        ).status,
      ).to.equal(413);
    });
  });

  it("calls onError with failed calls, and continues after an error in onError", async () => {
    const errors: Error[] = [];
    const failing = tool({
      name: "failing",
      description: "d",
      execute: () => {
        throw new Error("inner");
      },
    });
    const onError = (error: Error): never => {
      errors.push(error);
      throw new Error("broken observer");
    };
    expect(textOf(await ask({ tools: [failing], onError }, "failing"))).to.equal("inner");
    expect(errors[0]).to.have.property("code", "AE_TASK_EXECUTION");
  });

  it("sends its name and version, by default its own", async () => {
    expect((await clientOf(mcpServer({ tools: [echo] }))).getServerVersion()).to.include({
      name: "agentensemble",
      version: "1.0.0",
    });
    expect((await clientOf(offeringServer())).getServerVersion()).to.include({
      name: "offers",
      version: "2.3.4",
    });
  });

  it("shows no secrets when it is inspected", async () => {
    const server = mcpServer({ tools: [echo] });
    servers.push(server);
    const endpoint = await server.http({ token: "very-secret-token" });
    expect(inspect([server, endpoint], { depth: 10 })).to.not.include("very-secret-token");
  });

  it("leaves nothing that keeps a process alive", async () => {
    const program = `
      import { tool } from "agentensemble";
      import { mcpServer } from "agentensemble/mcp";
      import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
      const server = mcpServer({ tools: [tool({ name: "echo", description: "d", execute: (text) => text })] });
      for (const mode of ["auto", "legacy"]) {
        const client = new Client({ name: "c", version: "1" }, { versionNegotiation: { mode } });
        await client.connect(new StreamableHTTPClientTransport(new URL((await server.http()).url)));
        console.log((await client.callTool({ name: "echo", arguments: { input: mode } })).content[0].text);
        await client.close();
      }
      await server.close();
      console.log("closed");`;
    // It has to end by itself: a session, a socket or a timer that was left would keep it.
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--input-type=module", "--eval", program],
      { cwd: projectRoot, timeout: 15_000 },
    );
    expect(stdout).to.equal("auto\nlegacy\nclosed\n");
  });
});
