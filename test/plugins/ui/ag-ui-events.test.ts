import { Agent, Task, tool, ToolResult } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { toAgUiEvents, toAgUiResponse } from "agentensemble/ui";
import { expect } from "chai";
import { agUiEvents, ofType, started, typesOf } from "./fixtures.js";

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

  it("names the thread of the client, and refuses a blank one", async () => {
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
