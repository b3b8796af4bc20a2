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
  isLinkLike,
  linkDetector,
  plainLinkWords,
} from "../../../src/plugins/guards/links/link-detector.js";
import {
  isSecretLike,
  plainSecretWords,
  secretDetector,
  secretHoldFrom,
} from "../../../src/plugins/guards/secrets/secret-detector.js";
import { findingsAfter, replaceFindings } from "../../../src/plugins/guards/shared/findings.js";
import {
  filteredModel,
  lastWordAt,
  SegmentFilter,
  type QuickRule,
  type SegmentRules,
} from "../../../src/plugins/guards/shared/stream-filter.js";
import { HostList } from "../../../src/plugins/shared/fetch/host-rules.js";
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

const RUNS = Number(process.env["FUZZ_RUNS"] ?? 20);
const places = fc.array(fc.nat(), { minLength: 1, maxLength: 30 });

describe("a stream that a guard refuses, for any cuts,", function () {
  this.timeout(60_000);
  const guards = LABELLED_GUARDS.filter(({ readsTools }) => readsTools !== true);

  for (const { name, cases, make } of guards)
    it(`ends like the complete text, and shows all or less of it: ${name}`, async () => {
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

describe("a stream that a guard masks, for any cuts,", function () {
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

  it("shows the masked output: values after a label, with any text between them", async () => {
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
  it("calls the rule only if new text has a boundary, and passes on text that it has already checked", () => {
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

  it("passes the preceding shown text to a release, cut to the context", () => {
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

describe("the rule `quick` of a stream", () => {
  const word = fc.constantFrom(
    ...["garden", "the", "Passwort", "password:", "token", "is", "Bearer", "key", "=", ":", "-"],
    ...["4711-0815", "1,250.00", "2026", "12345678", "hunter2hunter2", "Xk9$lmPq", "'quoted'"],
    ...["AKIAIOSFODNN7EXAMPLE", "sk_live_4eC39HqLyjWDarjtT1zdp7dc", "Donaudampfschifffahrt"],
    ...[
      "https://a.example",
      "//b.example/c",
      "www.c.example",
      "a/b",
      "Stra\u00dfe",
      "\u4f60\u597d",
    ],
    ...["postgres://me:pa55word@db", "-----BEGIN", "RSA", "PRIVATE", "KEY-----", "-----END"],
  );
  const space = fc.constantFrom(" ", "  ", "\n", "\t", "\u00a0", "", ", ", '"');
  const text = fc
    .array(fc.tuple(word, space), { minLength: 1, maxLength: 25 })
    .map((parts) => parts.flat().join(""));
  /** Compares a filter with the rule and one without. Returns how many shown pieces had a mask. */
  function compare(rules: SegmentRules, begin: (() => QuickRule) | undefined): number {
    let masked = 0;
    const property = fc.property(text, places, (given, cuts) => {
      const one = new SegmentFilter(rules);
      const other = new SegmentFilter({ ...rules, quick: begin?.() });
      for (const piece of cutAt(given, cuts)) {
        const shown = other.push(piece);
        expect(shown).to.equal(one.push(piece));
        if (shown.includes("[mask]")) masked++;
      }
      expect(other.end()).to.equal(one.end());
    });
    fc.assert(property, { numRuns: 20 * RUNS });
    return masked;
  }

  it("shows the same text as the other rules, piece by piece, for links", () => {
    const detect = linkDetector(new HostList("hosts", []));
    const release = (given: string): string =>
      isLinkLike(given) ? replaceFindings(given, detect(given), () => "[mask]") : given;
    expect(compare({ byWord: true, release }, plainLinkWords)).to.be.greaterThan(RUNS);
  });

  for (const known of [[], ["12345678"], ["gardenthe"]])
    it(`shows the same text as the other rules, piece by piece, for secrets, with the known ones [${known.join()}]`, () => {
      const detect = secretDetector(known);
      const rules: SegmentRules = {
        byWord: true,
        context: 120,
        holdFrom: secretHoldFrom(known),
        release: (given, before) =>
          isSecretLike(given, known)
            ? replaceFindings(given, findingsAfter(detect, given, before()), () => "[mask]")
            : given,
      };
      expect(compare(rules, plainSecretWords(known))).to.be.greaterThan(RUNS);
    });

  it("does not apply to known secrets with a space", () => {
    expect(plainSecretWords(["correct horse"])).to.equal(undefined);
  });

  it("checks words with at least the length of the shortest known secret", () => {
    const quick = plainSecretWords(["abcdefgh", "abcdefghij"])?.();
    expect([quick?.decide("abcdefg", 0), quick?.decide("h ", 7)]).to.deep.equal([0, -1]);
    expect(quick?.decide("abcdefg ", 0)).to.equal(8);
    quick?.looked?.("abcdefgh");
    expect(quick?.decide("i ", 8)).to.equal(-1);
    quick?.looked?.("ab");
    expect(quick?.decide("c ", 2)).to.equal(2);
  });
});

describe("secrets() of a stream", () => {
  it("masks a private key, for any cut", async () => {
    const key = [
      "-----BEGIN OPENSSH PRIVATE KEY-----",
      "G/qwZnABAGcYaaHk+",
      "-----END OPENSSH PRIVATE KEY-----",
    ].join("\n");
    for (let at = 1; at < key.length; at++) {
      const { shown } = await guarded([secrets()], [{ chunks: [key.slice(0, at), key.slice(at)] }]);
      expect(shown, `cut at ${at}`).to.equal("[secret]");
    }
  });
});

describe("canary() of a stream", () => {
  it("holds back the beginning of a canary word, and nothing else", async () => {
    const chunks = ["ka", "na", " K-", "an", "ari en", " kan", "n", " it"];
    const plugin = canary({ words: ["kanarienvogel"], insert: false });
    const { tokens, error } = await guarded([plugin], [{ chunks }]);
    expect(error).to.equal(undefined);
    expect(tokens.join("")).to.equal(chunks.join(""));
    const leak = await guarded([plugin], [{ chunks: ["a kan", "-ari", " en_VO", "gel now"] }]);
    expect(leak.shown).to.equal("a ");
    expect(leak.error).not.to.equal(undefined);
  });

  it("holds back a canary word among letters beyond ASCII", async () => {
    const plugin = canary({ words: ["kanarienvogel"], insert: false });
    const chunks = ["\u00fcber \uff2b", "\uff41n", "\u2014arien", "v\u200bogel"];
    const { shown, error } = await guarded([plugin], [{ chunks }]);
    expect(error).not.to.equal(undefined);
    expect("\u00fcber ".startsWith(shown)).to.equal(true);
  });
});

describe("answerLength() of a stream", () => {
  it("counts the same as in the complete text, for any cuts", async () => {
    const part = fc.constantFrom(
      ...[
        "one",
        "don't",
        "3.5",
        "W\u00f6rter",
        "\u4f60\u597d\u4e16\u754c",
        "\u2014",
        "--",
        "\u00e9t\u00e9s",
      ],
      ...[" ", "  ", "\n", "\u00a0", "\u3000", "a", "_", "\ud83d\ude00"],
    );
    const texts = fc.array(part, { minLength: 1, maxLength: 20 }).map((all) => all.join(""));
    const property = fc.asyncProperty(texts, places, fc.nat(12), async (text, cuts, words) => {
      const plugin = answerLength({ maxWords: words + 1, maxCharacters: 45 });
      const whole = await guarded([plugin], [{ text }]);
      const cut = await guarded([plugin], [{ chunks: cutAt(text, cuts) }]);
      expect(cut.error === undefined).to.equal(whole.error === undefined);
      if (whole.error === undefined) expect(cut.shown).to.equal(text);
      else expect(cut.shown.length).to.be.below(text.length);
    });
    await fc.assert(property, { numRuns: 2 * RUNS });
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

  it("emits held text before the last chunk, and omits reasoning", async () => {
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
    it(`ends the stream of the model if ${failing} of the filter fails, or the reader disconnects`, async () => {
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
    it(`shows a sentence at the end of its line: ${name}`, async () => {
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

  it("of quotations() is not held back by a mark that opens no quotation", async () => {
    const chunks = ['A screen of 5" and ', "more.\n", "Then this ", "and that."];
    const { tokens } = await guarded([quotations()], [{ chunks }]);
    expect(tokens).to.deep.equal(["A screen of 5", '" and more.\n', "Then this ", "and that."]);
    const long = "word ".repeat(500);
    const open = await guarded([quotations()], [{ chunks: ["An \u201e", long, "and ", "on."] }]);
    expect(open.tokens.slice(0, 2)).to.deep.equal(["An ", `\u201e${long}`]);
  });

  it("of answerLength() counts words and characters for any pieces", async () => {
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
