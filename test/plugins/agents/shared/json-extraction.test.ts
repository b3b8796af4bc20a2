import { expect } from "chai";
import fc from "fast-check";
import { jsonCandidates } from "../../../../src/plugins/agents/shared/json-extraction.js";

const isObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The first candidate that a schema would accept. */
async function first(
  text: string,
  accepts: (value: unknown) => boolean = (value) => typeof value === "object" && value !== null,
): Promise<unknown> {
  for await (const candidate of jsonCandidates(text)) {
    if (candidate.ok && accepts(candidate.value)) return candidate.value;
  }
  return undefined;
}

async function errors(text: string): Promise<string[]> {
  const found: string[] = [];
  for await (const candidate of jsonCandidates(text)) {
    if (!candidate.ok) found.push(candidate.problem);
  }
  return found;
}

/** JSON objects without the keys that are refused. */
const objects = fc
  .dictionary(fc.string(), fc.jsonValue())
  .map((value) => JSON.stringify(value))
  .filter((text) => !/__proto__|constructor|prototype/.test(text));

describe("jsonCandidates", () => {
  const readings: readonly (readonly [string, string, unknown])[] = [
    ["the whole text", ' {"x":1}\n', { x: 1 }],
    ["an array", "[1,2]", [1, 2]],
    ["a fenced block", 'Sure:\n```json\n{"x":1}\n```\nDone.', { x: 1 }],
    ["a fence without a language", '```\n{"x":1}\n```', { x: 1 }],
    ["a fence in one line", '```json {"x":1}```', { x: 1 }],
    ["an open fence", '```json\n{"x":1}', { x: 1 }],
    ["an object within prose", 'Here: {"a":{"b":1},"c":2}. Bye', { a: { b: 1 }, c: 2 }],
    ["an object after braces that are prose", 'Note {a}: {"x":1}', { x: 1 }],
    ["an object after an open quote", 'The set {"a, b} holds: {"x":1}', { x: 1 }],
    ["an object with brackets and quotes in its strings", 'So {"x":"}]\\"{"} it is', { x: '}]"{' }],
    ["a value after reasoning", '<think>maybe {"x":0}?</think>\n{"x":1}', { x: 1 }],
    ["a fence before earlier objects in prose", 'From {} I made ```json\n{"x":1}\n```', { x: 1 }],
    ["single quotes and an extra comma, repaired", "{'x': 1,}", { x: 1 }],
    ["a broken object within prose, repaired", "Here you go: {x: 1, y: [2,}", { x: 1, y: [2] }],
    ["a broken fence, repaired", "Here:\n```json\n{x: 1,}\n```", { x: 1 }],
    ["a truncated object, repaired", '{"items":[{"a":1},{"a":2', { items: [{ a: 1 }, { a: 2 }] }],
  ];
  for (const [name, text, value] of readings) {
    it(`finds ${name}`, async () => {
      expect(await first(text)).to.deep.equal(value);
    });
  }

  it("returns the later of two objects if the earlier does not match", async () => {
    expect(
      await first('{"a":1} or {"b":2}', (value) => isObject(value) && "b" in Object(value)),
    ).to.deep.equal({ b: 2 });
  });

  it("does not return a part of a value as the answer", async () => {
    expect(
      await first(
        'The people: {"list":[{"name":"Ada"}]}',
        (value) => isObject(value) && "name" in Object(value),
      ),
    ).to.equal(undefined);
    expect(
      await first(
        '{"list":[{"name":"Ada"}]}',
        (value) => isObject(value) && "name" in Object(value),
      ),
    ).to.equal(undefined);
  });

  it("does not return a part of a truncated value as the answer", async () => {
    const accepted = await first('The people: [{"name":"Ada"},{"name":"Bob"', isObject);
    expect(accepted).to.equal(undefined);
  });

  it("returns scalars and, last, the bare text", async () => {
    const always = (): boolean => true;
    expect(await first("42", always)).to.equal(42);
    expect(await first("42", (value) => typeof value === "string")).to.equal("42");
    expect(await first(" red ", always)).to.equal("red");
    expect(await first("```\nred\n```", always)).to.equal("red");
  });

  it("refuses keys that could change a prototype, including escaped ones", async () => {
    expect(await errors('{"__proto__":{"x":1}}')).to.have.lengthOf(1);
    expect(await errors('{"a":[{"\\u005f_proto__":1}]}')).to.have.lengthOf(1);
    expect(await errors('Take {"constructor":1}')).to.not.be.empty;
    expect(await errors('{"x":"the constructor of a prototype"}')).to.deep.equal([]);
  });

  it("refuses nesting beyond 500 levels, also within prose", async () => {
    const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
    expect(await errors(nested(500))).to.deep.equal([]);
    expect(await errors(nested(501))).to.have.lengthOf(1);
    expect(await errors(`See ${nested(501)}`)).to.have.lengthOf(1);
  });

  it("finds any object within any prose without brackets", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), objects, fc.string(), async (before, object, after) => {
        const prose = (text: string): string => text.replace(/[[\]{}`<]/g, "");
        expect(await first(`Result: ${prose(before)}\n${object}\n. ${prose(after)}`)).to.deep.equal(
          JSON.parse(object),
        );
      }),
    );
  });

  it("never throws, for any text", async () => {
    const pieces = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      '"',
      ":",
      ",",
      "\\",
      "\n",
      "```",
      "<think>",
      "</think>",
      "1",
      "true",
      "x",
      " ",
      "'",
      '{"a":1}',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(pieces, { maxLength: 40 }),
        async (parts) => void (await errors(parts.join(""))),
      ),
    );
  });

  it("reads a megabyte of hostile text", async () => {
    const size = 1_000_000;
    const hostile = [
      "{",
      "[",
      '["',
      '{"a":[',
      `${"[".repeat(499)}x`,
      "[1,",
      "{}",
      "```",
      '"{',
      "[[1],",
    ];
    for (const piece of hostile) {
      const text = `x ${piece.repeat(size / piece.length)}`;
      expect(await first(text, () => false)).to.equal(undefined);
    }
  });
});
