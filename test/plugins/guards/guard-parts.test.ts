import { expect } from "chai";
import type { ChatChunk, ChatMessage, ChatModel } from "../../../src/contracts/chat-model.js";
import type { ContentPart } from "../../../src/contracts/content.js";
import type { HookRun } from "../../../src/contracts/run.js";
import { ToolResult } from "../../../src/contracts/tool-result.js";
import { ibanEnd } from "../../../src/plugins/guards/personal-data/payment-numbers.js";
import {
  outermostRun,
  Placeholders,
} from "../../../src/plugins/guards/personal-data/placeholders.js";
import { secretDetector } from "../../../src/plugins/guards/secrets/secret-detector.js";
import { changedToolResult } from "../../../src/plugins/guards/shared/changed-result.js";
import {
  changedMessage,
  changedPart,
  changedValue,
} from "../../../src/plugins/guards/shared/message-texts.js";
import { filteredModel, SegmentFilter } from "../../../src/plugins/guards/shared/stream-filter.js";
import { ScriptedModel } from "../../../src/plugins/testing/index.js";

const louder = (text: string): string => text.toUpperCase();

describe("changedPart()", () => {
  it("changes the text of a part and of a text file", () => {
    expect(changedPart({ type: "text", text: "hello" }, louder)).to.deep.equal({
      type: "text",
      text: "HELLO",
    });
    const file = { type: "file", mediaType: "text/plain", data: btoa("hello") } as const;
    expect(changedPart(file, louder)).to.deep.equal({ ...file, data: btoa("HELLO") });
  });

  for (const part of [
    { type: "text", text: "LOUD" },
    { type: "file", mediaType: "text/plain", data: btoa("LOUD") },
    { type: "file", mediaType: "text/plain", data: "https://example.com/a.txt" },
    { type: "file", mediaType: "text/plain", data: new URL("https://example.com/a.txt") },
    { type: "file", mediaType: "application/pdf", data: btoa("hello") },
    { type: "audio", mediaType: "audio/wav", data: btoa("hello") },
  ] satisfies readonly ContentPart[])
    it(`keeps the part ${JSON.stringify(part)}`, () => {
      expect(changedPart(part, louder)).to.equal(part);
    });
});

describe("changedMessage()", () => {
  it("changes the text and the parts of a tool's answer", () => {
    const message: ChatMessage = {
      role: "tool",
      toolCallId: "1",
      toolName: "look",
      content: "seen",
      parts: [{ type: "text", text: "a door" }],
    };
    expect(changedMessage(message, louder)).to.deep.equal({
      ...message,
      content: "SEEN",
      parts: [{ type: "text", text: "A DOOR" }],
    });
    const parts: readonly ContentPart[] = [{ type: "text", text: "LOUD" }];
    expect(changedMessage({ ...message, parts }, louder)).to.deep.equal({
      ...message,
      content: "SEEN",
      parts,
    });
  });

  it("changes the arguments of tool calls, and only those with a change", () => {
    const message = {
      role: "assistant",
      content: "",
      toolCalls: [
        { id: "1", name: "look", arguments: '{"at":"door"}' },
        { id: "2", name: "look", arguments: "[1]" },
      ],
    } satisfies ChatMessage;
    const changed = changedMessage(message, louder);
    expect(changed).to.have.nested.property("toolCalls[0].arguments", '{"AT":"DOOR"}');
    expect(changed).to.have.nested.property("toolCalls[1]", message.toolCalls[1]);
    const calls = message.toolCalls.slice(1);
    expect(changedMessage({ ...message, toolCalls: calls }, louder)).to.have.property(
      "toolCalls",
      calls,
    );
  });
});

describe("changedValue()", () => {
  it("changes the texts in lists and objects", () => {
    expect(changedValue({ a: ["x", 1, null], b: { c: "y" } }, louder)).to.deep.equal({
      a: ["X", 1, null],
      b: { c: "Y" },
    });
  });

  it("returns the same value if no text changes, and keeps instances of classes", () => {
    const same = { a: ["X", 1], b: Object.assign(Object.create(null), { c: "Y" }) as object };
    expect(changedValue(same, louder)).to.equal(same);
    const date = new Date(0);
    expect(changedValue(date, louder)).to.equal(date);
  });
});

describe("changedToolResult()", () => {
  it("changes the message of a failure", () => {
    const changed = changedToolResult(ToolResult.failure("no light"), louder);
    expect([changed.ok, changed.errorMessage]).to.deep.equal([false, "NO LIGHT"]);
    const loud = ToolResult.failure("NO LIGHT");
    expect(changedToolResult(loud, louder)).to.equal(loud);
  });

  it("changes text, structured value and parts, and keeps the sources", () => {
    const sources = [{ url: "https://example.com/" }];
    const parts: readonly ContentPart[] = [{ type: "text", text: "a door" }];
    const changed = changedToolResult(
      ToolResult.success("SEEN", { at: "door" }, { parts, sources }),
      louder,
    );
    expect(changed.output).to.equal("SEEN");
    expect(changed.structured).to.deep.equal({ at: "DOOR" });
    expect(changed.parts).to.deep.equal([{ type: "text", text: "A DOOR" }]);
    expect(changed.sources).to.deep.equal(sources);
    const same = ToolResult.success("SEEN", ["DOOR"]);
    expect(changedToolResult(same, louder)).to.equal(same);
  });
});

describe("secretDetector()", () => {
  const found = (text: string): readonly string[] =>
    secretDetector([])(text).map(({ start, end }) => text.slice(start, end));

  for (const text of [
    "password: 1234-5678",
    "password: something",
    "password: ......",
    "password: aaaaaaa1",
    "password: your-password",
    "postgres://ana:password@db.test/x",
    "postgres://ana:${PASSWORD}@db.test/x",
    "sk-proj-xxxxxxxxxxxxxxxxxxxxxxxxx",
  ])
    it(`keeps ${text}`, () => {
      expect(found(text)).to.deep.equal([]);
    });

  for (const [text, secret] of [
    ["password: open&sesame", "open&sesame"],
    ["password: openSesameMountainDoor", "openSesameMountainDoor"],
    ["(password: hunter2!x).", "hunter2!x"],
    ["postgres://ana:mountain@db.test/x", "mountain"],
    ["Authorization: Basic YW5hOm1vdW50YWluMQ==", "YW5hOm1vdW50YWluMQ=="],
  ] as const)
    it(`finds the secret in ${text}`, () => {
      expect(found(text)).to.deep.equal([secret]);
    });
});

describe("filteredModel()", () => {
  const all = () => new SegmentFilter({ holdFrom: (text) => text.length, release: (text) => text });

  it("returns a model without streams unchanged", () => {
    const model: ChatModel = {
      provider: "p",
      modelId: "m",
      chat: () => Promise.reject(new Error("not called")),
    };
    expect(filteredModel(model, all)).to.equal(model);
  });

  it("keeps the other functions of the model and chunks of tool calls, and drops reasoning", async () => {
    const response = {
      message: { role: "assistant", content: "ab" },
      finishReason: "stop",
    } as const;
    const chunks: readonly ChatChunk[] = [
      { type: "reasoning", index: 0, text: "not judged" },
      { type: "text", text: "a" },
      { type: "tool_call", index: 0, name: "look" },
      { type: "text", text: "b" },
      { type: "finish", response },
    ];
    const model = {
      ...{ provider: "p", modelId: "m", name: "named" },
      chat: () => Promise.resolve(response),
      async *stream() {
        yield* chunks;
      },
      check(): void {
        throw new Error(`checked ${this.name}`);
      },
      identity() {
        return `identity of ${this.name}`;
      },
      redact(text: string) {
        return `${this.name}: ${text}`;
      },
    } satisfies ChatModel & { readonly name: string };
    const filtered = filteredModel(model, all);
    const shown: ChatChunk[] = [];
    for await (const chunk of filtered.stream?.({ messages: [] }) ?? []) shown.push(chunk);
    expect(shown).to.deep.equal(chunks.slice(1));
    expect(await filtered.chat({ messages: [] })).to.equal(response);
    expect(() => filtered.check?.()).to.throw("checked named");
    expect(filtered.identity?.()).to.equal("identity of named");
    expect(filtered.redact?.("x")).to.equal("named: x");
  });

  it("ends the stream of the vendor when its reader stops", async () => {
    const model = new ScriptedModel([{ chunks: ["one ", "two ", "three"] }]);
    const shown: ChatChunk[] = [];
    for await (const chunk of filteredModel(model, all).stream?.({ messages: [] }) ?? []) {
      shown.push(chunk);
      break;
    }
    expect(shown).to.deep.equal([{ type: "text", text: "one " }]);
  });
});

describe("Placeholders", () => {
  const placeholders = (): Placeholders =>
    new Placeholders(
      "key",
      () => [],
      () => undefined,
    );

  it("holds nothing back before the first value, and then the beginning of a placeholder", () => {
    const own = placeholders();
    expect(own.holdFrom("Write to [")).to.equal(10);
    expect(own.mask("ana", [{ kind: "name", start: 0, end: 3 }])).to.match(/^\[NAME_\w{7}\]$/);
    expect(own.holdFrom("Write to [")).to.equal(9);
    expect(own.holdFrom("Write to [NAME_AB")).to.equal(9);
  });

  it("keeps unknown placeholders", () => {
    const own = placeholders();
    const made = own.mask("ana", [{ kind: "name", start: 0, end: 3 }]);
    expect(own.restore(`${made} and [NAME_2222222]`)).to.equal("ana and [NAME_2222222]");
  });

  it("belong to the run that was joined first", () => {
    const outer = { id: "outer" } as HookRun;
    const inner = { id: "inner", parent: { id: "middle", parent: outer } } as HookRun;
    expect(outermostRun(inner)).to.equal(outer);
    expect(outermostRun(outer)).to.equal(outer);
  });
});

describe("ibanEnd()", () => {
  it("returns the length of a valid IBAN with its separators", () => {
    expect(ibanEnd("DE89 3704 0044 0532 0130 00 and more")).to.equal(27);
    expect(ibanEnd("DE89-3704-0044-0532-0130-00")).to.equal(27);
  });

  for (const text of ["ZZ89 3704 0044 0532 0130 00", "DE89 3704", "DE88 3704 0044 0532 0130 00"])
    it(`returns nothing for ${text}`, () => {
      expect(ibanEnd(text)).to.equal(undefined);
    });
});
