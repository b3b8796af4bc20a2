import { Validator } from "@cfworker/json-schema";
import { Task, Agent, tool, ValidationError, type JsonSchema } from "agentensemble";
import { expect } from "chai";
import fc from "fast-check";
import { checkingSchemaOf } from "../../../src/util/schema/json-schema.js";
import { checkValueNow, type Checked } from "../../../src/util/schema/standard-schema.js";

async function check(jsonSchema: JsonSchema, value: unknown): Promise<Checked | undefined> {
  return checkValueNow(await checkingSchemaOf("It", jsonSchema), value);
}

const toolWith = (input: JsonSchema) =>
  tool({ name: "keep", description: "Keeps", input, execute: () => "" });

/** Takes a native engine exponential time. */
const HOSTILE = "a".repeat(100);
const EXPONENTIAL = "^(a+)+$";

const leaf = fc.constantFrom<object>(
  { pattern: "^a" },
  { pattern: "b$", type: "string" },
  { pattern: "^.$", maxLength: 2 },
  { type: "number" },
  { not: { pattern: "a" } },
  { enum: ["a", 1] },
  { $ref: "#/$defs/pattern" },
);
const { schema } = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    leaf,
    tie("schema").map((inner) => ({ items: inner })),
    tie("schema").map((inner) => ({ not: inner })),
    tie("schema").map((inner) => ({ propertyNames: inner })),
    fc
      .tuple(tie("schema"), tie("schema"))
      .map(([a, b]) => ({ anyOf: [a, b], allOf: [{ pattern: "^[ab]*$" }] })),
    fc
      .tuple(tie("schema"), tie("schema"), tie("schema"))
      .map(([a, b, c]) => ({ if: a, then: b, else: c })),
    fc.tuple(tie("schema"), tie("schema"), fc.boolean()).map(([a, b, open]) => ({
      properties: { a },
      patternProperties: { "^a": b, b$: { pattern: "a" }, "^[.]$": {} },
      additionalProperties: open,
    })),
  ),
}));
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>("", "a", "b", "ab", "ba", "aab", "c", 1, null, true),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom("a", "b", "ab", "ca", "cb", ".", "c|d", ""), tie("value"), {
      maxKeys: 4,
    }),
  ),
})).value;

describe("patterns of JSON Schema", () => {
  it("are matched in linear time: of values, of names and within references", async function () {
    this.timeout(20_000);
    for (const input of [
      { properties: { text: { type: "string", pattern: EXPONENTIAL } } },
      { properties: { text: { $ref: "#/$defs/text" } }, $defs: { text: { pattern: EXPONENTIAL } } },
      { properties: { text: { anyOf: [{ type: "number" }, { pattern: EXPONENTIAL }] } } },
    ])
      expect(await check(input, { text: `${HOSTILE}!` })).to.deep.include({
        ok: false,
      });
    const names = {
      patternProperties: { [EXPONENTIAL]: { type: "number" } },
      additionalProperties: false,
    };
    expect(await check(names, { [`${HOSTILE}!`]: 1 })).to.deep.equal({
      ok: false,
      problem: `${HOSTILE}!: not allowed`,
    });
    expect(await check(names, { [HOSTILE]: 1 })).to.deep.include({ ok: true });
    expect(
      await check({ propertyNames: { pattern: EXPONENTIAL } }, { [`${HOSTILE}!`]: 1 }),
    ).to.deep.include({
      ok: false,
    });
  });

  it("are reported if they do not match", async () => {
    const schema = { properties: { tags: { items: { type: "string", pattern: "^[a-z]+$" } } } };
    expect(await check(schema, { tags: ["a", "B", "c"] })).to.deep.equal({
      ok: false,
      problem: "tags.1: String does not match pattern.",
    });
    expect(await check(schema, { tags: ["a", "b"] })).to.deep.include({ ok: true });
  });

  it("decide like the validator alone", async () => {
    await fc.assert(
      fc.asyncProperty(
        schema.map((inner) => ({ $defs: { pattern: { pattern: "a.$" } }, ...inner })),
        fc.array(value, { minLength: 3, maxLength: 3 }),
        async (jsonSchema, values) => {
          const ours = await checkingSchemaOf("It", jsonSchema);
          const plain = new Validator(structuredClone(jsonSchema), "2020-12", false);
          for (const one of values)
            expect(checkValueNow(ours, one)?.ok).to.equal(plain.validate(one).valid);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("refuse a value that would take too long", async () => {
    const large = { properties: { text: { pattern: "[ab]{900}c" } } };
    expect(await check(large, { text: "a".repeat(20_000) })).to.deep.equal({
      ok: false,
      problem: "the value is too large for the patterns of its schema",
    });
    expect(await check(large, { other: "a".repeat(20_000) })).to.deep.include({ ok: true });
    const names = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`name-${i}`, 1]));
    expect(await check({ patternProperties: { "^name": {} } }, names))
      .to.have.property("problem")
      .that.matches(/too (large|many)/);
  });

  it("keep the schema of the tool unchanged", async () => {
    const input = { properties: { text: { pattern: "^a" } }, patternProperties: { "^b": {} } };
    const before = structuredClone(input);
    await check(input, { text: "a", b: 1 });
    expect(input).to.deep.equal(before);
  });

  for (const [what, input] of [
    ["of a property", { properties: { mail: { pattern: "^(?!\\.)a" } } }],
    ["of a name", { patternProperties: { "(?<=a)b": {} } }],
    ["deep within", { $defs: { x: { anyOf: [{ items: { pattern: "(a)\\1" } }] } } }],
    ["that is none", { properties: { name: { pattern: "(" } } }],
  ] as const) {
    it(`are refused if invalid when the tool is created: one ${what}`, () => {
      expect(() => toolWith(input)).to.throw(ValidationError, "Tool 'keep' input: the pattern '");
      const made = { name: "keep", description: "Keeps", input, execute: () => "" };
      expect(() => new Agent({ role: "A", goal: "B", tools: [made] })).to.throw(
        ValidationError,
        "the pattern '",
      );
    });
  }

  it("may be names of properties, and data", () => {
    const pattern = { type: "string" };
    toolWith({ properties: { pattern }, default: { pattern: "(" }, examples: [{ pattern: "(" }] });
    new Task({ description: "x", tools: [toolWith({ properties: { pattern } })] });
  });
});
