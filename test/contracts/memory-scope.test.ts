import { expect } from "chai";
import type { ChatModel, ChatModelProvider } from "../../src/contracts/chat-model.js";
import { ValidationError } from "../../src/contracts/errors.js";
import {
  MemoryScope,
  keepEntriesWithin,
  keepLastEntries,
} from "../../src/contracts/memory-scope.js";
import { modelNamed } from "../../src/contracts/model-name.js";
import { knownNames } from "../../src/contracts/validation.js";
import { inputText } from "../../src/contracts/template.js";

describe("limits of a memory scope", () => {
  it("are refused unless they are positive numbers", () => {
    expect(() => keepLastEntries(0)).to.throw(ValidationError, "n must be > 0, got: 0");
    expect(() => keepLastEntries(1.5)).to.throw("n must be > 0, got: 1.5");
    for (const ms of [undefined, null])
      expect(() => keepEntriesWithin(ms as never)).to.throw("duration must not be null");
    for (const ms of [0, Number.NaN])
      expect(() => keepEntriesWithin(ms)).to.throw(`duration must be positive, got: ${ms}`);
  });

  it("by time require a clock outside of a run", () => {
    const entry = { content: "old", storedAt: new Date(1_000), metadata: {} };
    const policy = keepEntriesWithin(500);
    expect(() => policy.apply([entry])).to.throw("keepEntriesWithin needs to know the time");
    expect(policy.apply([entry], new Date(1_499))).to.deep.equal([entry]);
    expect(policy.apply([entry], new Date(1_500))).to.deep.equal([]);
    const clocked = keepEntriesWithin(500, { now: () => new Date(9_000) });
    expect(clocked.apply([entry])).to.deep.equal([]);
  });

  it("remain in a renamed copy; a copy with the same name is the same scope", () => {
    const scope = MemoryScope.of("notes").keepLastEntries(2);
    expect(scope.named("notes")).to.equal(scope);
    expect(scope.named("more").eviction).to.equal(scope.eviction);
    expect(String(scope)).to.equal("MemoryScope{name='notes'}");
  });
});

describe("a model by its name", () => {
  const model = { provider: "p", modelId: "m", chat: () => undefined } as unknown as ChatModel;
  const provider = (create: () => unknown): ChatModelProvider =>
    ({ name: "p", create }) as unknown as ChatModelProvider;

  it("is created by the provider of that name", () => {
    expect(modelNamed("p:m", [provider(() => model)])).to.equal(model);
  });

  it("is refused without a known provider", () => {
    expect(() => modelNamed("gpt", [])).to.throw(
      ValidationError,
      "Model gpt names no provider and model. None is registered.",
    );
    expect(() => modelNamed("pp:m", [provider(() => model)])).to.throw(
      "Unknown model provider 'pp' in model pp:m. Did you mean 'p'? Known: p.",
    );
  });

  it("is refused if the provider throws or returns no model", () => {
    const refusal = new ValidationError("no key");
    const failing = (error: Error): ChatModelProvider =>
      provider(() => {
        throw error;
      });
    expect(() => modelNamed("p:m", [failing(refusal)])).to.throw(refusal);
    expect(() => modelNamed("p:m", [failing(new Error("broken"))])).to.throw(
      "Provider 'p' can't make model 'm': broken",
    );
    for (const made of [undefined, {}])
      expect(() => modelNamed("p:m", [provider(() => made)])).to.throw(
        "Provider 'p' must make a ChatModel of 'm', got:",
      );
  });
});

describe("values in templates", () => {
  it("are converted to text by their type", () => {
    expect(inputText("a", null)).to.equal("");
    expect(inputText("a", function named() {})).to.equal("named");
    expect(inputText("a", new Date(0))).to.equal("1970-01-01T00:00:00.000Z");
    expect(inputText("a", { toJSON: () => undefined })).to.equal("");
    expect(inputText("a", 7)).to.equal("7");
  });

  it("must have a JSON form", () => {
    expect(() => inputText("a", { n: 1n })).to.throw("Input 'a' can't be written as JSON:");
  });
});

describe("names in messages about unknown names", () => {
  it("are listed up to ten, with the nearest first", () => {
    const names = Array.from({ length: 12 }, (_, n) => `name${n}`);
    expect(knownNames("namo1", names, ", see there")).to.match(
      /^Did you mean 'name1'\? Known: name0, .*name9 and 2 more, see there\.$/,
    );
    expect(knownNames("", ["longer"])).to.equal("Known: longer.");
  });
});
