import { expect } from "chai";
import type { ThreadMessage } from "../../../../src/contracts/conversation.js";
import { ValidationError } from "../../../../src/contracts/errors.js";
import { fromUIMessage } from "../../../../src/plugins/shared/ui-message/from-ui-message.js";
import { toUIMessages, userParts } from "../../../../src/plugins/shared/ui-message/ui-messages.js";

const call = { id: "c", name: "look", arguments: '{"q":1}' };

function messages(...given: readonly object[]): readonly ThreadMessage[] {
  return given.map((fields, n) => ({
    ...{ id: `m${n}`, turnId: "t", at: "2026-01-01T00:00:00Z", content: "" },
    ...fields,
  })) as ThreadMessage[]; // the fields of each role are given
}

function partsOf(given: readonly ThreadMessage[], o = {}): readonly unknown[] {
  return toUIMessages(given, o).flatMap(({ parts }) => parts);
}

const shownCall = { type: "dynamic-tool", toolName: "look" };

describe("the messages of a thread for a page", () => {
  it("omit empty answers", () => {
    const silent = messages(
      { role: "assistant" },
      { role: "assistant", reasoning: [{ text: "" }] },
    );
    expect(partsOf(silent)).to.deep.equal([]);
    const thoughts = messages({ role: "assistant", reasoning: [{ text: "hm" }] });
    expect(partsOf(thoughts, { reasoning: false })).to.deep.equal([]);
    expect(partsOf(thoughts)).to.deep.include({ type: "reasoning", text: "hm", state: "done" });
    const calls = messages({ role: "assistant", toolCalls: [call] });
    expect(partsOf(calls, { tools: "none" })).to.deep.equal([]);
  });

  it("show a call without a result as failed, and a second call with the same id under another id", () => {
    const parts = partsOf(messages({ role: "assistant", toolCalls: [call, call] }));
    const failed = {
      ...shownCall,
      input: {},
      state: "output-error",
      errorText: "The tool failed.",
    };
    expect(parts.slice(1)).to.deep.equal([
      { ...failed, toolCallId: "c" },
      { ...failed, toolCallId: "c~2" },
    ]);
  });

  it("show no more of a result than its view allows", () => {
    const asked = { role: "assistant", toolCalls: [call] };
    const result = { role: "tool", toolCallId: "c", toolName: "look", content: "found" };
    const shown = (fields: object, o = {}): unknown =>
      partsOf(messages(asked, { ...result, ...fields }), o)[1];
    const part = { ...shownCall, toolCallId: "c" };
    const ended = { ...part, state: "output-available" };
    expect(shown({})).to.deep.equal({ ...ended, input: {}, output: null });
    const view = { private: false };
    expect(shown({ view }, { tools: "names" })).to.deep.equal({
      ...ended,
      input: {},
      output: null,
    });
    expect(shown({ view })).to.deep.equal({ ...ended, input: { q: 1 }, output: "found" });
    const whole = { private: false, title: "Look", input: 1, output: 2 };
    expect(shown({ view: whole })).to.deep.equal({ ...ended, title: "Look", input: 1, output: 2 });
    expect(shown({ view: { private: true, denied: true } })).to.deep.equal({
      ...part,
      input: {},
      state: "output-denied",
      approval: { id: "c", approved: false },
    });
    expect(shown({ isError: true, view })).to.include({ state: "output-error" });
  });

  it("omit the result of a call that was not made", () => {
    expect(
      partsOf(messages({ role: "tool", toolName: "look", toolCallId: "x", content: "found" })),
    ).to.deep.equal([]);
  });

  it("name each source once", () => {
    const sources = [{ url: "https://a.test/", title: "A" }, { title: "B" }, { title: "B" }, {}];
    const view = { private: false, sources };
    const parts = partsOf(
      messages(
        { role: "assistant", toolCalls: [call] },
        { role: "tool", toolName: "look", toolCallId: "c", content: "found", view },
      ),
    );
    expect(parts.slice(2)).to.deep.equal([
      { type: "source-url", sourceId: "source-1", url: "https://a.test/", title: "A" },
      { type: "source-document", sourceId: "source-2", mediaType: "text/plain", title: "B" },
    ]);
    expect(
      partsOf(
        messages(
          { role: "assistant", toolCalls: [call] },
          { role: "tool", toolCallId: "c", content: "found", view },
        ),
        { sources: false },
      ),
    ).to.have.length(2);
  });

  it("show the files of a user with the known media type", () => {
    const data = Buffer.from("%PDF-1.7").toString("base64");
    const parts = userParts([
      { type: "text", text: "Read" },
      { type: "file", data: "AAAA" },
      { type: "file", data, name: "a.pdf" },
      { type: "image", data: "https://a.test/b.png" },
      { type: "image", data: "AAAA", mediaType: "image/webp" },
    ] as never);
    expect(parts).to.deep.equal([
      { type: "text", text: "Read" },
      { type: "file", mediaType: "file/*", url: "data:file/*;base64,AAAA" },
      {
        type: "file",
        mediaType: "application/pdf",
        url: `data:application/pdf;base64,${data}`,
        filename: "a.pdf",
      },
      { type: "file", mediaType: "image/*", url: "https://a.test/b.png" },
      { type: "file", mediaType: "image/webp", url: "data:image/webp;base64,AAAA" },
    ]);
  });
});

describe("a message of a page", () => {
  const of = (...parts: readonly unknown[]): unknown => ({ id: "m", role: "user", parts });

  it("is refused if it has another form", () => {
    const cases: readonly (readonly [unknown, string])[] = [
      [7, "parts: [...] }, got: 7"],
      [{ role: "user", text: "x" }, "got: an object with the fields role, text"],
      [of(), "A message must not be blank"],
      [of({ type: "text" }), "A message must not be blank"],
      [of({ type: "text", text: " " }), "A message must not be blank"],
      [of(null), "got a part of type: undefined"],
      [of({ type: "tool" }), "has text and files, got a part of type: tool"],
      [of({ type: "file" }), "must come as a data: address, got:"],
      [of({ type: "file", url: "https://a.test/" }), "must come as a data: address, got: https"],
    ];
    for (const [message, problem] of cases)
      expect(() => fromUIMessage(message)).to.throw(ValidationError, problem);
    expect(() => fromUIMessage(of({}, {}), { maxParts: 1 })).to.throw("at most 1 parts, got: 2");
  });

  it("contains its texts and files, without a blank text next to them", () => {
    const url = "data:text/plain;base64,aGk=";
    const blank = { type: "text", text: " " };
    const content = fromUIMessage(
      of(blank, { type: "file", url, filename: " " }, { type: "file", url, filename: "a.txt" }),
    );
    expect(content.map((part) => ("name" in part ? part.name : part.type))).to.deep.equal([
      "file",
      "a.txt",
    ]);
  });
});
