import { expect } from "chai";
import fc from "fast-check";
import type { ChatChunk, ChatModel } from "../../../src/contracts/chat-model.js";
import type { Plugin } from "../../../src/contracts/plugin.js";
import {
  answerLength,
  canary,
  links,
  personalData,
  quotations,
  secrets,
  topics,
} from "../../../src/guards.js";
import {
  filteredModel,
  lastWordAt,
  SegmentFilter,
} from "../../../src/plugins/guards/shared/stream-filter.js";
import { LABELLED_GUARDS } from "../../../bench/labelled/measure-guards.js";
import { CANARY, DENIED_TOPICS } from "../../../bench/labelled/form-cases.js";
import { isHeldOut } from "../../../bench/labelled/labelled-case.js";
import { PLAIN_SENTENCES } from "../../../bench/labelled/readme-sentences.js";
import { rejection } from "../../support/rejection.js";
import { guarded } from "./guarded-team.js";

/** Cuts a text at these places, taken modulo its length. */
function cutAt(text: string, places: readonly number[]): readonly string[] {
  const ends = [...new Set([...places.map((place) => place % text.length), text.length])].sort(
    (a, b) => a - b,
  );
  return ends.flatMap((end, index) => text.slice(ends[index - 1] ?? 0, end) || []);
}

const RUNS = 60;
const places = fc.array(fc.nat(), { minLength: 1, maxLength: 30 });

describe("a stream that a guard refuses, whatever its cuts are,", function () {
  this.timeout(60_000);
  const guards = LABELLED_GUARDS.filter(({ readsTools }) => readsTools !== true);

  for (const { name, cases, make } of guards)
    it(`ends as the whole text does, and shows all or less of it: ${name}`, async () => {
      const texts = fc.constantFrom(...cases.filter(isHeldOut).map(({ text }) => text));
      const property = fc.asyncProperty(texts, places, async (text, cuts) => {
        const run = (chunks: readonly string[]) => guarded([make(() => undefined)], [{ chunks }]);
        const whole = await run([text]);
        const cut = await run(cutAt(text, cuts));
        expect(cut.error === undefined).to.equal(whole.error === undefined);
        if (whole.error === undefined) expect(cut.shown).to.equal(text);
        else expect(text.startsWith(cut.shown)).to.equal(true);
        // Text that begins like JSON is shown: only its end decides.
        if (whole.error !== undefined && name !== "jsonOnly")
          expect(cut.shown.length).to.be.below(text.length);
      });
      await fc.assert(property, { numRuns: RUNS });
    });
});

describe("a stream that a guard masks, whatever its cuts are,", function () {
  this.timeout(60_000);
  const masking: Readonly<Record<string, () => Plugin>> = {
    secrets: () => secrets(),
    links: () => links({ hosts: ["example.com"] }),
    "personalData: mail, phone": () =>
      personalData({ restore: false, key: "test", phoneRegions: ["US", "DE", "FR"] }),
    "personalData: cards, IBANs, identity numbers": () =>
      personalData({ restore: false, key: "test" }),
  };
  for (const [name, make] of Object.entries(masking))
    it(`shows the masked output: ${name}`, async () => {
      const { cases = [] } = LABELLED_GUARDS.find((guard) => guard.name === name) ?? {};
      const texts = fc.constantFrom(...cases.filter(isHeldOut).map(({ text }) => text));
      const property = fc.asyncProperty(texts, places, async (text, cuts) => {
        const whole = await guarded([make()], [{ text }]);
        const cut = await guarded([make()], [{ chunks: cutAt(text, cuts) }]);
        expect(cut.shown.trim()).to.equal(whole.output.raw.trim());
        expect(cut.output.raw).to.equal(whole.output.raw);
      });
      await fc.assert(property, { numRuns: RUNS });
    });

  it("shows the masked output: values after a label, whatever stands between them", async () => {
    const labelled = fc.tuple(
      fc.constantFrom("", "The ", "(", "Note:\n", "My old "),
      fc.constantFrom(
        "password",
        "API key",
        "mot de passe",
        "Passwort",
        "Bearer",
        "basic",
        "token",
      ),
      fc.constantFrom(
        ": ",
        " = ",
        ":",
        " is ",
        " lautet ",
        " is : ",
        "=",
        "  :  ",
        ': "',
        " ",
        " `",
      ),
      fc.constantFrom("hunter2hunter2", "dGhpc2lzYXRlc3Q0Mg==", "Xk9$lmPq", "garden"),
      fc.constantFrom("", ".", '"', " and so on", "\nNext line"),
    );
    let masked = 0;
    const property = fc.asyncProperty(labelled, places, async (parts, cuts) => {
      const text = parts.join("");
      const whole = await guarded([secrets()], [{ text }]);
      const cut = await guarded([secrets()], [{ chunks: cutAt(text, cuts) }]);
      if (whole.output.raw.includes("[secret]")) masked++;
      expect(cut.shown.trim()).to.equal(whole.output.raw.trim());
    });
    await fc.assert(property, { numRuns: 2 * RUNS });
    expect(masked).to.be.greaterThan(RUNS / 2);
  });
});

describe("SegmentFilter", () => {
  it("asks only where new text has a boundary, and passes what was asked before", () => {
    const asked: [string, number][] = [];
    const filter = new SegmentFilter({
      byWord: true,
      holdFrom(text, before) {
        asked.push([text, before]);
        return lastWordAt(text);
      },
      release: (text) => text,
    });
    const shown = [..."one two"].map((letter) => filter.push(letter));
    expect([...shown, filter.end()].join("|")).to.equal("|||one ||||two");
    expect(asked).to.deep.equal([["one ", 3]]);
  });

  it("gives a release the shown text before it, cut to the context", () => {
    const contexts: string[] = [];
    const filter = new SegmentFilter({
      context: 3,
      holdFrom: (text) => text.length,
      release(text, before) {
        contexts.push(before());
        return text;
      },
    });
    for (const text of ["ab", "cd", "e"]) filter.push(text);
    expect(contexts).to.deep.equal(["", "ab", "bcd"]);
  });
});

describe("filteredModel()", () => {
  const finish = {
    type: "finish",
    response: { message: { role: "assistant", content: "" }, finishReason: "stop" },
  } as const;
  const modelOf = (ended: () => void): ChatModel => ({
    ...{ provider: "p", modelId: "m" },
    chat: () => Promise.resolve(finish.response),
    async *stream() {
      try {
        yield { type: "text", text: "one " };
        yield { type: "reasoning", index: 0, text: "hidden" };
        yield { type: "tool_call", index: 0, name: "look" };
        yield { type: "text", text: "two" };
        yield finish;
      } finally {
        ended();
      }
    },
  });
  const words = { byWord: true, release: (text: string) => text };

  it("gives held text before the last chunk, and leaves reasoning out", async () => {
    const model = filteredModel(
      modelOf(() => undefined),
      () => new SegmentFilter(words),
    );
    const chunks: ChatChunk[] = [];
    for await (const chunk of model.stream?.({ messages: [] }) ?? []) chunks.push(chunk);
    expect(chunks).to.deep.equal([
      { type: "text", text: "one " },
      { type: "tool_call", index: 0, name: "look" },
      { type: "text", text: "two" },
      finish,
    ]);
  });

  for (const failing of ["push", "end"] as const)
    it(`ends the stream of the model where ${failing} of the filter fails, or the reader leaves`, async () => {
      let ends = 0;
      const failure = new Error("no filter");
      const filter = {
        push: (text: string) => text,
        end: () => "",
        [failing]: () => {
          throw failure;
        },
      };
      const read = async (): Promise<void> => {
        const model = filteredModel(
          modelOf(() => ends++),
          () => filter,
        );
        for await (const chunk of model.stream?.({ messages: [] }) ?? [])
          if (chunk.type === "finish") return;
      };
      expect(await rejection(read())).to.equal(failure);
      await Promise.resolve();
      expect(ends).to.equal(1);
      const left = filteredModel(
        modelOf(() => ends++),
        () => new SegmentFilter(words),
      );
      for await (const _ of left.stream?.({ messages: [] }) ?? []) break;
      expect(ends).to.equal(2);
    });
});

describe("a stream", () => {
  const sentences = PLAIN_SENTENCES.map(([, text]) => text).filter((text) => !/:\/\//.test(text));
  const guards: readonly (readonly [string, () => Plugin])[] = [
    ["secrets()", () => secrets()],
    ["links()", () => links({ hosts: ["example.com"] })],
    ["personalData()", () => personalData()],
    ["topics()", () => topics({ deny: DENIED_TOPICS })],
    ["canary()", () => canary({ words: [CANARY] })],
    ["quotations()", () => quotations({ sources: sentences })],
    ["answerLength()", () => answerLength({ maxWords: 1_000 })],
  ];
  for (const [name, make] of guards)
    it(`shows a sentence as soon as its line is over: ${name}`, async () => {
      for (const sentence of sentences.slice(0, 20)) {
        const { tokens, error } = await guarded(
          [make()],
          [{ chunks: [`${sentence}\n\nWe `, "read it."] }],
        );
        expect(error, sentence).to.equal(undefined);
        expect(tokens[0], sentence).to.contain(sentence);
      }
    });

  it("of topics() counts words of earlier sentences, and phrases over two lines", async () => {
    const two = topics({ deny: { gambling: ["poker", "roulette"] }, words: 2 });
    const { shown } = await guarded(
      [two],
      [{ chunks: ["We play poker.", " It rains.", " Then roulette.", " And so on."] }],
    );
    expect(shown).to.equal("We play poker. It rains.");
    const phrase = topics({ deny: { medicine: ["side effect*"] } });
    const lines = await guarded([phrase], [{ chunks: ["It has a side\n\n", "effect.", " Yes."] }]);
    expect(lines.shown).to.equal("It has a side\n");
  });

  it("of quotations() reads a quotation over two lines, and one after it", async () => {
    const plugin = quotations({ sources: ["first part of it and second part"] });
    const text = '\u201cfirst part of it\nand second part\u201d is "no quotation of any source".';
    const { shown } = await guarded([plugin], [{ chunks: [...text] }]);
    expect(shown).to.equal("\u201cfirst part of it\nand second part\u201d is ");
    const block = "So 5 > 3.\n  > first part of it\nAnd:\n > an invented block of text\nEnd";
    const blocks = await guarded([plugin], [{ chunks: [...block] }]);
    expect(blocks.shown).to.equal("So 5 > 3.\n  > first part of it\nAnd:\n ");
  });

  it("of quotations() is not held by a mark that opens no quotation", async () => {
    const chunks = ['A screen of 5" and ', "more.\n", "Then this ", "and that."];
    const { tokens } = await guarded([quotations()], [{ chunks }]);
    expect(tokens).to.deep.equal(["A screen of 5", '" and more.\n', "Then this ", "and that."]);
    const long = "word ".repeat(500);
    const open = await guarded([quotations()], [{ chunks: ["An \u201e", long, "and ", "on."] }]);
    expect(open.tokens.slice(0, 2)).to.deep.equal(["An ", `\u201e${long}`]);
  });

  it("of answerLength() counts words and characters whatever the pieces are", async () => {
    const text = "  Ein paar W\u00f6rter, 你好世界 and 3 more \u2014 here.  ";
    const chunks = [...text];
    const words = await guarded([answerLength({ maxWords: 9 })], [{ chunks }]);
    expect(words.error).to.equal(undefined);
    expect(words.shown).to.equal(text);
    const { length } = text.trim();
    const exact = await guarded([answerLength({ maxCharacters: length })], [{ chunks }]);
    expect(exact.shown).to.equal(text);
    const less = await guarded([answerLength({ maxCharacters: length - 1 })], [{ chunks }]);
    expect(less.shown.trim()).to.equal(text.trim().slice(0, -1));
    expect(less.error).not.to.equal(undefined);
  });
});
