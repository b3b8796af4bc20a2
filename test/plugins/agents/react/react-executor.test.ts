import { expect } from "chai";
import { z } from "zod";
import type { ChatRequest } from "../../../../src/contracts/chat-model.js";
import type { ContentPart } from "../../../../src/contracts/content.js";
import { Agent } from "../../../../src/contracts/agent.js";
import {
  AgentExecutionError,
  ExitEarlySignal,
  ModelCallError,
  RunCancelledError,
  ToolConfigurationError,
  ValidationError,
} from "../../../../src/contracts/errors.js";
import { Task } from "../../../../src/contracts/task.js";
import { Tokens } from "../../../../src/contracts/tokens.js";
import { tool } from "../../../../src/contracts/tool.js";
import { ReactExecutor } from "../../../../src/plugins/agents/react/react-executor.js";
import { ScriptedModel } from "../../../../src/plugins/testing/index.js";
import { failure, fakeScope, rejection, taskCall, templates } from "../../../support/fake-scope.js";

const task = new Task({ description: "Write it up", expectedOutput: "A page" });
const echo = tool({ name: "echo", description: "Says it again", execute: (text) => text });

function toolMessages(request: ChatRequest | undefined): string[] {
  return (request?.messages ?? []).flatMap((message) =>
    message.role === "tool" ? [message.content] : [],
  );
}

describe("ReactExecutor", () => {
  it("handles tasks without a handler", () => {
    const executor = new ReactExecutor();
    expect(executor.handles({ id: "a", task: task, contextIds: [] })).to.equal(true);
    expect(
      executor.handles({
        id: "a",
        task: new Task({ description: "x", handler: () => "y" }),
        contextIds: [],
      }),
    ).to.equal(false);
  });

  it("sends the system and the user message once and returns the text", async () => {
    const model = new ScriptedModel(["The page"]);
    const scope = fakeScope({ model });
    expect(await new ReactExecutor().execute(taskCall(task), scope)).to.deep.equal({
      raw: "The page",
      toolCallCount: 0,
    });
    expect(model.requests).to.have.lengthOf(1);
    expect(model.requests[0]?.messages.map((message) => message.role)).to.deep.equal([
      "system",
      "user",
    ]);
    expect(model.requests[0]).to.not.have.any.keys("tools", "toolChoice", "responseFormat");
    expect(scope.purposes).to.deep.equal(["task"]);
  });

  it("calls a delegated task's model as a worker", async () => {
    const scope = fakeScope({ model: new ScriptedModel(["Done"]), depth: 1 });
    await new ReactExecutor().execute(taskCall(task), scope);
    expect(scope.purposes).to.deep.equal(["worker"]);
  });

  it("uses one list of messages for all requests", async () => {
    const model = new ScriptedModel([
      { toolCalls: [{ name: "echo", arguments: { input: "a" } }] },
      "Done",
    ]);
    const scope = fakeScope({ model });
    await new ReactExecutor().execute(
      taskCall(task, { agent: new Agent({ role: "R", goal: "G", tools: [echo] }) }),
      scope,
    );
    expect(scope.requests[0]?.messages).to.equal(scope.requests[1]?.messages);
    expect(model.requests.map(({ messages }) => messages.length)).to.deep.equal([2, 4]);
    expect(toolMessages(model.requests[1])).to.deep.equal(["a"]);
  });

  it("sets the task's model options over the agent's, field by field", async () => {
    const model = new ScriptedModel(["x"]);
    const agent = new Agent({
      role: "R",
      goal: "G",
      modelOptions: { temperature: 1, maxOutputTokens: 5 },
    });
    const warm = new Task({
      description: "d",
      modelOptions: { temperature: 0, maxOutputTokens: undefined },
    });
    await new ReactExecutor().execute(taskCall(warm, { agent }), fakeScope({ model }));
    expect(model.requests[0]).to.include({ temperature: 0, maxOutputTokens: 5 });
  });

  it("appends attachments to the user message", async () => {
    const model = new ScriptedModel(["x"]);
    const image: ContentPart = { type: "image", data: "https://example.com/a.png" };
    await new ReactExecutor().execute(
      taskCall(new Task({ description: "d", expectedOutput: "e", attachments: [image] })),
      fakeScope({ model }),
    );
    expect(model.requests[0]?.messages[1]).to.deep.equal({
      role: "user",
      content: [{ type: "text", text: "## Task\nd\n\n## Expected Output\ne" }, image],
    });
  });

  it("describes a plain tool by one text parameter, and a typed tool by its JSON Schema without a dialect", async () => {
    const model = new ScriptedModel(["x"]);
    const typed = tool({
      name: "add",
      description: "Adds",
      input: z.object({ a: z.number() }),
      execute: ({ a }) => `${a}`,
    });
    const raw = tool({
      name: "raw",
      description: "Raw",
      input: { type: "object", properties: {} },
      execute: () => "",
    });
    await new ReactExecutor().execute(
      taskCall(task, { agent: new Agent({ role: "R", goal: "G", tools: [echo, typed, raw] }) }),
      fakeScope({ model }),
    );
    const [plain, add, given] = model.requests[0]?.tools ?? [];
    expect(plain).to.deep.equal({
      name: "echo",
      description: "Says it again",
      parameters: {
        type: "object",
        properties: { input: { type: "string", description: "The input to pass to the tool" } },
        required: ["input"],
      },
    });
    expect(add?.parameters).to.deep.include({
      type: "object",
      properties: { a: { type: "number" } },
      required: ["a"],
    });
    expect(add?.parameters).to.not.have.property("$schema");
    expect(given?.parameters).to.deep.equal({ type: "object", properties: {} });
  });

  it("converts a tool's schema once, for any number of tasks", async () => {
    let conversions = 0;
    const schema = z.object({ a: z.number() });
    const standard = schema["~standard"];
    const counted = {
      "~standard": {
        ...standard,
        jsonSchema: {
          ...standard.jsonSchema,
          input: (o: Parameters<typeof standard.jsonSchema.input>[0]) => (
            conversions++,
            standard.jsonSchema.input(o)
          ),
        },
      },
    };
    const agent = new Agent({
      role: "R",
      goal: "G",
      tools: [tool({ name: "add", description: "Adds", input: counted, execute: () => "" })],
    });
    const executor = new ReactExecutor();
    for (let i = 0; i < 3; i++)
      await executor.execute(
        taskCall(task, { agent }),
        fakeScope({ model: new ScriptedModel(["x"]) }),
      );
    expect(conversions).to.equal(1);
  });

  it("fails for an input schema without JSON Schema or of another type than object, and names the tool", async () => {
    for (const input of [z.object({ at: z.date() }), z.string()]) {
      const broken = tool<unknown>({
        name: "broken",
        description: "Broken",
        input,
        execute: () => "",
      });
      const error = await failure(
        new ReactExecutor().execute(
          taskCall(task, { agent: new Agent({ role: "R", goal: "G", tools: [broken] }) }),
          fakeScope(),
        ),
      );
      expect(error).to.be.instanceOf(ToolConfigurationError);
      expect(error.message).to.include("'broken'");
    }
  });

  it("offers the container's tools after the agent's own, each once", async () => {
    const model = new ScriptedModel(["x"]);
    const shared = tool({ name: "shared", description: "Shared", execute: () => "" });
    const contributions = new Map<unknown, readonly unknown[]>([[Tokens.Tool, [shared, echo]]]);
    await new ReactExecutor().execute(
      taskCall(task, { agent: new Agent({ role: "R", goal: "G", tools: [echo] }) }),
      fakeScope({ model, contributions }),
    );
    expect(model.requests[0]?.tools?.map(({ name }) => name)).to.deep.equal(["echo", "shared"]);
  });

  it("expands providers each time a task starts", async () => {
    let resolved = 0;
    const provider = {
      resolve: () => [tool({ name: `t${++resolved}`, description: "T", execute: () => "" })],
    };
    const agent = new Agent({ role: "R", goal: "G", tools: [provider, echo] });
    const executor = new ReactExecutor();
    const model = new ScriptedModel(["x", "y"]);
    for (let i = 0; i < 2; i++)
      await executor.execute(taskCall(task, { agent }), fakeScope({ model }));
    expect(model.requests.map((request) => request.tools?.map(({ name }) => name))).to.deep.equal([
      ["t1", "echo"],
      ["t2", "echo"],
    ]);
  });

  it("fails if a provider throws, returns no tools, or returns a name in use", async () => {
    const providers: readonly { resolve(): never }[] = [
      {
        resolve: () => [tool({ name: "echo", description: "Another", execute: () => "" })] as never,
      },
      {
        resolve: () => {
          throw new Error("offline");
        },
      },
      { resolve: () => "none" as never },
      { resolve: () => [42] as never },
      {
        resolve: () =>
          [{ name: "say hello", description: "Says hello", execute: () => "" }] as never,
      },
    ];
    for (const provider of providers) {
      const agent = new Agent({ role: "R", goal: "G", tools: [echo, provider] });
      expect(
        await failure(new ReactExecutor().execute(taskCall(task, { agent }), fakeScope())),
      ).to.have.property("code", "AE_TOOL_CONFIGURATION");
    }
  });

  it("reports failures of the model as failures of the agent", async () => {
    const cause = new ModelCallError("no route", { provider: "p", modelId: "m" });
    for (const error of [cause, new Error("no route")]) {
      const failed = await failure(
        new ReactExecutor().execute(
          taskCall(task),
          fakeScope({ model: new ScriptedModel([error]) }),
        ),
      );
      expect(failed).to.be.instanceOf(AgentExecutionError);
      expect(failed.message).to.equal("Agent 'Tester' failed: no route");
      expect(failed.cause).to.equal(error);
    }
  });

  it("passes on every other error of the framework", async () => {
    for (const error of [
      new ExitEarlySignal("enough"),
      new RunCancelledError("stop"),
      new ValidationError("no"),
    ]) {
      expect(
        await rejection(
          new ReactExecutor().execute(
            taskCall(task),
            fakeScope({ model: new ScriptedModel([error]) }),
          ),
        ),
      ).to.equal(error);
    }
  });

  it("passes on the reason of an abort", async () => {
    const reason = new Error("aborted");
    const scope = fakeScope({ model: new ScriptedModel(["x"]), signal: AbortSignal.abort(reason) });
    expect(await rejection(new ReactExecutor().execute(taskCall(task), scope))).to.equal(reason);
  });

  it("warns of an empty answer", async () => {
    const long = new Task({ description: "x".repeat(100) });
    const heard = fakeScope({ model: new ScriptedModel([""]), listening: ["run_warning"] });
    expect((await new ReactExecutor().execute(taskCall(long), heard)).raw).to.equal("");
    expect(heard.events).to.deep.equal([
      {
        type: "run_warning",
        message: `Agent 'Tester' returned empty response for task '${"x".repeat(80)}'`,
      },
    ]);
  });

  it("announces its input before the first call", async () => {
    const model = new ScriptedModel(["x"]);
    const scope = fakeScope({ model, listening: ["task_input"], parentTaskId: "task-0" });
    const agent = new Agent({ role: "R", goal: "G", background: "B", tools: [echo] });
    await new ReactExecutor().execute(taskCall(task, { agent }), scope);
    const [system, user] = model.requests[0]?.messages ?? [];
    expect(scope.events).to.deep.equal([
      {
        type: "task_input",
        taskId: "task-1",
        parentTaskId: "task-0",
        agentRole: "R",
        taskIndex: 1,
        taskDescription: "Write it up",
        expectedOutput: "A page",
        agentGoal: "G",
        agentBackground: "B",
        toolNames: ["echo"],
        systemPrompt: system?.content,
        userPrompt: user?.content,
        assembledContext: user?.content,
      },
    ]);
  });

  it("uses contributed texts", async () => {
    const model = new ScriptedModel(["x"]);
    await new ReactExecutor().execute(
      taskCall(task),
      fakeScope({ model, contributions: templates({ "agent.system": "I am {role}" }) }),
    );
    expect(model.requests[0]?.messages[0]?.content).to.equal("I am Tester");
  });

  it("previews the first request without a call", async () => {
    const executor = new ReactExecutor();
    const provider = { resolve: () => expect.fail("called") };
    const structured = new Task({ description: "d", outputType: z.object({ x: z.number() }) });
    const scope = fakeScope({ model: new ScriptedModel(['{"x":1}']) });
    const preview = await executor.preview(
      taskCall(structured, { agent: new Agent({ role: "R", goal: "G", tools: [echo, provider] }) }),
      scope,
    );
    expect(scope.requests).to.be.empty;
    await executor.execute(
      taskCall(structured, { agent: new Agent({ role: "R", goal: "G", tools: [echo] }) }),
      scope,
    );
    expect(scope.requests[0]?.messages.map(({ content }) => content)).to.deep.equal([
      preview.systemPrompt,
      preview.userPrompt,
    ]);
    expect(scope.requests[0]?.tools).to.deep.equal(preview.tools);
  });

  it("refuses a task without an agent", async () => {
    expect(
      await failure(new ReactExecutor().execute(taskCall(task, { agent: undefined }), fakeScope())),
    ).to.be.instanceOf(ValidationError);
  });
});
