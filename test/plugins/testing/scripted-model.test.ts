import { expect } from "chai";
import type { ChatRequest } from "../../../src/contracts/chat-model.js";
import { ModelCallError, ValidationError } from "../../../src/contracts/errors.js";
import {
  ScriptedModel,
  type ScriptedModelOptions,
  type Step,
} from "../../../src/plugins/testing/index.js";
import { rejection, rejectionOf } from "../../support/rejection.js";
import { collect } from "../../support/collect.js";

function ask(content: string): ChatRequest {
  return { messages: [{ role: "user", content }] };
}

describe("ScriptedModel", () => {
  it("answers step by step, without usage if none is given", async () => {
    const model = new ScriptedModel([
      "one",
      { text: "two", usage: { inputTokens: 3, outputTokens: 4 } },
    ]);
    expect(await model.chat(ask("a"))).to.deep.equal({
      message: { role: "assistant", content: "one" },
      finishReason: "stop",
    });
    expect(await model.chat(ask("b"))).to.deep.equal({
      message: { role: "assistant", content: "two" },
      finishReason: "stop",
      usage: { inputTokens: 3, outputTokens: 4 },
    });
    model.assertExhausted();
  });

  it("has a default name, or the given name", () => {
    expect(new ScriptedModel([])).to.include({ provider: "scripted", modelId: "scripted" });
    expect(new ScriptedModel([], { provider: "p", modelId: "m" })).to.include({
      provider: "p",
      modelId: "m",
    });
  });

  it("counts tool calls over its lifetime, writes objects as JSON and passes text on", async () => {
    const model = new ScriptedModel([
      {
        toolCalls: [
          { name: "add", arguments: { a: 1 } },
          { name: "say", arguments: "{broken" },
        ],
      },
      {
        toolCalls: [
          { name: "add", arguments: {}, id: "mine" },
          { name: "now", arguments: undefined },
        ],
      },
    ]);
    const first = await model.chat(ask("a"));
    expect(first.finishReason).to.equal("tool_calls");
    expect(first.message.toolCalls).to.deep.equal([
      { id: "call_1", name: "add", arguments: '{"a":1}' },
      { id: "call_2", name: "say", arguments: "{broken" },
    ]);
    expect((await model.chat(ask("b"))).message.toolCalls).to.deep.equal([
      { id: "mine", name: "add", arguments: "{}" },
      { id: "call_3", name: "now", arguments: "{}" },
    ]);
  });

  it("records requests unchanged, also if the conversation grows", async () => {
    const model = new ScriptedModel(["one", "two"]);
    const messages = [...ask("a").messages];
    await model.chat({ messages, temperature: 0.5 });
    messages.push({ role: "assistant", content: "one" });
    await model.chat({ messages });
    expect(model.requests.map((request) => request.messages.length)).to.deep.equal([1, 2]);
    expect(model.requests[0]?.temperature).to.equal(0.5);
  });

  it("rejects with the error of a step, in both notations", async () => {
    const boom = new Error("boom");
    const model = new ScriptedModel([boom, { error: boom }, "fine"]);
    expect(await rejection(model.chat(ask("a")))).to.equal(boom);
    expect(await rejection(model.chat(ask("b")))).to.equal(boom);
    expect((await model.chat(ask("c"))).message.content).to.equal("fine");
    expect(model.requests).to.have.lengthOf(3);
  });

  it("calls a function for the step, with the request and its number", async () => {
    const model = new ScriptedModel(
      async (request, index) => `${index}: ${JSON.stringify(request.messages[0]?.content)}`,
    );
    await model.chat(ask("a"));
    expect((await model.chat(ask("b"))).message.content).to.equal('1: "b"');
    expect(() => model.assertExhausted()).to.throw("array");
  });

  it("names the number of steps and the request after the end of the script", async () => {
    const model = new ScriptedModel(["one"]);
    await model.chat(ask("first"));
    const e = await rejectionOf(ModelCallError, model.chat(ask("what now?")));
    expect(e.message).to.contain("1 step").and.contain("call 2").and.contain("what now?");
    expect(e.retryable).to.equal(false);
  });

  it("repeats the last step with the option", async () => {
    const model = new ScriptedModel(["one", "last"], { onExhausted: "repeat-last" });
    for (const text of ["one", "last", "last"])
      expect((await model.chat(ask("a"))).message.content).to.equal(text);
    expect(
      await rejection(new ScriptedModel([], { onExhausted: "repeat-last" }).chat(ask("a"))),
    ).to.be.instanceOf(ModelCallError);
  });

  it("reports unused steps", async () => {
    const model = new ScriptedModel(["one", "two"]);
    await model.chat(ask("a"));
    expect(() => model.assertExhausted()).to.throw(/1 time.*2 steps.*two/);
  });

  it("streams chunks, tool calls and the complete answer", async () => {
    const model = new ScriptedModel([
      { chunks: ["He", "llo"], toolCalls: [{ name: "add", arguments: {} }] },
      "whole",
      "",
    ]);
    const response = {
      message: {
        role: "assistant",
        content: "Hello",
        toolCalls: [{ id: "call_1", name: "add", arguments: "{}" }],
      },
      finishReason: "tool_calls",
    };
    expect(await collect(model.stream(ask("a")))).to.deep.equal([
      { type: "text", text: "He" },
      { type: "text", text: "llo" },
      { type: "tool_call", index: 0, id: "call_1", name: "add", argumentsDelta: "{}" },
      { type: "finish", response },
    ]);
    expect((await collect(model.stream(ask("b")))).map((chunk) => chunk.type)).to.deep.equal([
      "text",
      "finish",
    ]);
    expect((await collect(model.stream(ask("c")))).map((chunk) => chunk.type)).to.deep.equal([
      "finish",
    ]);
  });

  it("joins chunks for a call that is not streamed", async () => {
    expect(
      (await new ScriptedModel([{ chunks: ["He", "llo"] }]).chat(ask("a"))).message.content,
    ).to.equal("Hello");
  });

  it("waits, and stops waiting when aborted", async () => {
    const model = new ScriptedModel([
      { text: "late", delayMs: 5 },
      { text: "never", delayMs: 60_000 },
    ]);
    const controller = new AbortController();
    expect((await model.chat(ask("a"), { signal: controller.signal })).message.content).to.equal(
      "late",
    );
    const outcome = rejection(model.chat(ask("b"), { signal: controller.signal }));
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await outcome).to.equal(reason);
  });

  it("uses no step if it was aborted before the call", async () => {
    const model = new ScriptedModel(["one"]);
    expect(await rejection(model.chat(ask("a"), { signal: AbortSignal.abort("no") }))).to.equal(
      "no",
    );
    expect(model.requests).to.deep.equal([]);
  });

  it("stops streaming when aborted between chunks", async () => {
    const controller = new AbortController();
    const seen: string[] = [];
    const outcome = rejection(
      (async () => {
        for await (const chunk of new ScriptedModel([{ chunks: ["a", "b"] }]).stream(ask("a"), {
          signal: controller.signal,
        })) {
          seen.push(chunk.type === "text" ? chunk.text : chunk.type);
          controller.abort("stop");
        }
      })(),
    );
    expect(await outcome).to.equal("stop");
    expect(seen).to.deep.equal(["a"]);
  });

  it("refuses invalid scripts and options", () => {
    const bad: readonly unknown[] = [
      [{ txt: "x" }],
      [7],
      [{ toolCalls: [{ arguments: {} }] }],
      [{ delayMs: -1 }],
      [{ text: "a", chunks: ["b"] }],
      "text",
    ];
    for (const script of bad)
      expect(() => new ScriptedModel(script as readonly Step[]), JSON.stringify(script)).to.throw(
        ValidationError,
      );
    for (const options of [{ onExhausted: "stop" }, { model: "x" }])
      expect(() => new ScriptedModel([], options as ScriptedModelOptions)).to.throw(
        ValidationError,
      );
  });
});
