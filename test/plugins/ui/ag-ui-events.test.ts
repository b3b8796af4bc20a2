import { Agent, agentTool, Task, tool, ToolResult } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { toAgUiEvents, toAgUiResponse } from "agentensemble/ui";
import { expect } from "chai";
import { collect } from "../../support/collect.js";
import { agUiEvents, checkAgUiEvents, ofType, started, typesOf } from "./fixtures.js";

const look = tool({ name: "look", description: "l", execute: () => ({ seen: true }) });

const options = () => {
  const model = new ScriptedModel([
    { toolCalls: [{ id: "l", name: "look", arguments: { at: "sea" } }] },
    "A ship.",
  ]);
  const agent = new Agent({ role: "A", goal: "g", model, tools: [look] });
  return { tasks: [new Task({ name: "t", description: "d", agent })] };
};

describe("toAgUiEvents()", () => {
  it("streams steps, a tool call and the answer of a run", async () => {
    const events = await agUiEvents(options(), { messageId: "m", data: false });
    const steady = events.filter(({ type }) => type !== "TEXT_MESSAGE_CONTENT");
    expect(typesOf(steady)).to.deep.equal([
      "RUN_STARTED",
      "STEP_STARTED",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "TOOL_CALL_RESULT",
      "STEP_FINISHED",
      "STEP_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_END",
      "STEP_FINISHED",
      "RUN_FINISHED",
    ]);
    expect(ofType(events, "TOOL_CALL_ARGS")[0]).to.deep.include({ delta: '{"at":"sea"}' });
    expect(ofType(events, "TOOL_CALL_RESULT")[0]).to.deep.include({ content: '{"seen":true}' });
    const text = ofType(events, "TEXT_MESSAGE_CONTENT").map(({ delta }) => delta);
    expect(text.join("")).to.equal("A ship.");
    expect(events.at(-1)).to.deep.include({ outcome: { type: "success" } });
  });

  it("shows sources as custom events", async () => {
    const find = tool({
      name: "find",
      description: "f",
      execute: () =>
        ToolResult.success("x", undefined, {
          sources: [{ url: "https://example.org/a", title: "A" }, { title: "B" }],
        }),
    });
    const model = new ScriptedModel([
      { toolCalls: [{ id: "f", name: "find", arguments: {} }] },
      "Done.",
    ]);
    const agent = new Agent({ role: "A", goal: "g", model, tools: [find] });
    const events = await agUiEvents(
      { tasks: [new Task({ description: "d", agent })] },
      { data: false },
    );
    expect(ofType(events, "CUSTOM")).to.deep.equal([
      {
        type: "CUSTOM",
        name: "source",
        value: { sourceId: "source-1", url: "https://example.org/a", title: "A" },
      },
      {
        type: "CUSTOM",
        name: "source",
        value: { sourceId: "source-2", mediaType: "text/plain", title: "B" },
      },
    ]);
  });

  it("shows tasks as custom events", async () => {
    const events = await agUiEvents(options());
    expect(ofType(events, "CUSTOM")[0]).to.deep.equal({
      type: "CUSTOM",
      name: "task",
      value: { id: "t", data: { taskId: "t", agent: "A", state: "running" } },
    });
  });

  it("shows delegations as subagents, with their ends", async () => {
    const worker = new Agent({ role: "Worker", goal: "w", model: new ScriptedModel(["dug"]) });
    const helper = new Agent({ role: "Helper", goal: "h", model: new ScriptedModel([]) });
    const model = new ScriptedModel([
      { toolCalls: [{ id: "w", name: "worker", arguments: { task: "dig" } }] },
      { toolCalls: [{ id: "h", name: "helper", arguments: { task: "carry" } }] },
      "Done.",
    ]);
    const agent = new Agent({
      ...{ role: "Boss", goal: "g", model },
      tools: [agentTool(worker), agentTool(helper)],
    });
    const events = await agUiEvents({ tasks: [new Task({ description: "d", agent })] });
    const shown = events.filter(({ type }) => type.startsWith("SUBAGENT_"));
    expect(
      shown.map(({ type, name, outcome, message }) => [type, name ?? outcome ?? message]),
    ).to.deep.equal([
      ["SUBAGENT_STARTED", "Worker"],
      ["SUBAGENT_FINISHED", { type: "success" }],
      ["SUBAGENT_STARTED", "Helper"],
      ["SUBAGENT_ERROR", "The delegation failed."],
    ]);
    const ids = shown.map(({ subagentRunId }) => subagentRunId);
    expect([ids[0], ids[2]]).to.deep.equal([ids[1], ids[3]]);
    expect(ids[0]).to.not.equal(ids[2]);
  });

  it("ends a cancelled run with the outcome of a cancellation", async () => {
    let begin: () => void = () => undefined;
    const called = new Promise<void>((resolve) => (begin = resolve));
    const wait = tool({
      name: "wait",
      description: "w",
      execute: () => {
        begin();
        return new Promise<string>(() => undefined);
      },
    });
    const model = new ScriptedModel([{ toolCalls: [{ id: "w", name: "wait", arguments: {} }] }]);
    const agent = new Agent({ role: "A", goal: "g", model, tools: [wait] });
    const tasks = [new Task({ description: "d", agent })];
    const handle = started({ tasks }, { cancelGraceMs: 1 });
    const reading = collect(toAgUiEvents(handle));
    await called;
    handle.cancel();
    const events = await reading;
    checkAgUiEvents(events);
    expect(events.at(-1)).to.deep.include({ outcome: { type: "cancelled" } });
  });

  it("ends a failed run with the masked error and its code", async () => {
    const events = await agUiEvents({
      tasks: [new Task({ description: "d", handler: (): string => JSON.parse("{") as string })],
    });
    expect(events.at(-1)).to.deep.equal({
      type: "RUN_ERROR",
      message: "An error occurred. (AE_TASK_EXECUTION)",
      code: "AE_TASK_EXECUTION",
    });
  });

  it("contain the thread id of the client, and refuse a blank one", async () => {
    const handle = started(options(), { runId: "run-3" });
    expect(() => toAgUiEvents(handle, { threadId: " " }))
      .to.throw()
      .with.property("code", "AE_VALIDATION");
    const response = toAgUiResponse(handle, { threadId: "th" });
    expect(response.headers.get("content-type")).to.equal("text/event-stream");
    const lines = (await response.text()).trim().split("\n\n");
    expect(lines[0]).to.contain('"threadId":"th","runId":"run-3"');
    expect(lines.at(-1)).to.contain("RUN_FINISHED");
  });
});
