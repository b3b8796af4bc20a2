import { expect } from "chai";
import fc from "fast-check";
import { z } from "zod";
import type { JsonSchema } from "../../../../src/contracts/types.js";
import { OPENAI_DIALECT } from "../../../../src/plugins/providers/openai/strict-dialect.js";
import { removeNulls } from "../../../../src/plugins/providers/shared/strict-nulls.js";
import {
  StrictSchemas,
  toStrictSchema,
} from "../../../../src/plugins/providers/shared/strict-schema.js";

/** A schema, valid values, and the output of a model in strict mode for such a value. */
interface Sample {
  readonly schema: JsonSchema;
  readonly values: fc.Arbitrary<unknown>;
  readonly allowsNull: boolean;
  written(value: unknown): unknown;
}

const asIs = (value: unknown): unknown => value;

function leaf(schema: JsonSchema, values: fc.Arbitrary<unknown>, allowsNull = false): Sample {
  return { schema, values, allowsNull, written: asIs };
}

const TEXT = fc.string({ maxLength: 5 });
const LEAVES = fc.constantFrom(
  leaf({ type: "string", description: "a text", default: "x" }, TEXT),
  leaf({ type: "integer", minimum: 0 }, fc.nat(99)),
  leaf({ type: "boolean" }, fc.boolean()),
  leaf({ enum: ["a", "b"] }, fc.constantFrom("a", "b")),
  leaf({ const: 7 }, fc.constant(7)),
  leaf({ type: ["string", "null"] }, fc.option(TEXT), true),
  leaf({ anyOf: [{ type: "number" }, { type: "null" }] }, fc.option(fc.nat(99)), true),
  leaf({ $ref: "#/$defs/word" }, TEXT),
  leaf({ $ref: "#/$defs/maybe" }, fc.option(TEXT), true),
);
const DEFINITIONS = {
  word: { type: "string" },
  maybe: { oneOf: [{ type: "string" }, { type: "null" }] },
};

interface Property {
  readonly sample: Sample;
  readonly required: boolean;
}

function objectOf(properties: Readonly<Record<string, Property>>): Sample {
  const entries = Object.entries(properties);
  const required = entries.filter(([, property]) => property.required).map(([name]) => name);
  // A null of an optional property that may be null is ambiguous. The property is therefore always
  // present.
  const present = entries
    .filter(([, property]) => property.required || property.sample.allowsNull)
    .map(([name]) => name);
  return {
    schema: {
      type: "object",
      properties: Object.fromEntries(
        entries.map(([name, property]) => [name, property.sample.schema]),
      ),
      required,
    },
    values: fc.record(
      Object.fromEntries(entries.map(([name, property]) => [name, property.sample.values])),
      { requiredKeys: present },
    ),
    allowsNull: false,
    written: (value) => {
      const fields = value as Readonly<Record<string, unknown>>; // made by the line above
      return Object.fromEntries(
        entries.map(([name, { sample }]) => [
          name,
          Object.hasOwn(fields, name) ? sample.written(fields[name]) : null,
        ]),
      );
    },
  };
}

function listOf(sample: Sample): Sample {
  return {
    schema: { type: "array", items: sample.schema },
    values: fc.array(sample.values, { maxLength: 3 }),
    allowsNull: false,
    written: (value) => (value as readonly unknown[]).map((item) => sample.written(item)), // made by the line above
  };
}

/** One of two objects with a distinguishing fixed value. */
function eitherOf(keyword: "anyOf" | "oneOf", first: Property, second: Property): Sample {
  const branch = (kind: string, property: Property): Sample =>
    objectOf({
      kind: { sample: leaf({ const: kind }, fc.constant(kind)), required: true },
      value: property,
    });
  const [left, right] = [branch("left", first), branch("right", second)];
  return {
    schema: { [keyword]: [left.schema, right.schema] },
    values: fc.oneof(left.values, right.values),
    allowsNull: false,
    written: (value) =>
      ((value as { readonly kind: string }).kind === "left" ? left : right).written(value), // made by the line above
  };
}

const { sample: SAMPLES } = fc.letrec<{ sample: Sample; property: Property; object: Sample }>(
  (tie) => ({
    property: fc.record({ sample: tie("sample"), required: fc.boolean() }),
    object: fc
      .dictionary(fc.constantFrom("a", "b", "c", "__x", "constructor"), tie("property"), {
        maxKeys: 4,
      })
      .map((properties) => objectOf({ ...properties })),
    sample: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      LEAVES,
      tie("object"),
      tie("sample").map(listOf),
      fc
        .tuple(
          fc.constantFrom("anyOf" as const, "oneOf" as const),
          tie("property"),
          tie("property"),
        )
        .map((parts) => eitherOf(...parts)),
    ),
  }),
);
const ROOTS = fc
  .dictionary(
    fc.constantFrom("p", "q", "r"),
    fc.record({ sample: SAMPLES, required: fc.boolean() }),
    { maxKeys: 3 },
  )
  .map((properties) => objectOf({ ...properties }))
  .map((sample): Sample => ({ ...sample, schema: { ...sample.schema, $defs: DEFINITIONS } }));

/** Whether every object in it is closed and requires all its properties. */
function isStrict(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return true;
  if (Array.isArray(schema)) return schema.every(isStrict);
  const { type, properties, required, additionalProperties } = schema as Record<string, unknown>; // any object can be read by key
  const isClosed =
    type !== "object" ||
    (additionalProperties === false &&
      JSON.stringify(Object.keys(properties ?? {})) === JSON.stringify(required));
  return isClosed && Object.values(schema).every(isStrict);
}

describe("strict schemas", () => {
  it("are closed and complete, accept every valid value, and lose nothing when they are converted back", () => {
    fc.assert(
      fc.property(
        ROOTS.chain(({ schema, values, written }) =>
          values.map((value) => ({ schema, value, written: written(value) })),
        ),
        ({ schema, value, written }) => {
          const strict = toStrictSchema(schema, OPENAI_DIALECT);
          if (strict === undefined) throw new Error("not made strict");
          expect(isStrict(strict.schema)).to.equal(true);
          expect(z.fromJSONSchema({ ...strict.schema }).safeParse(written).success).to.equal(true);
          expect(JSON.parse(removeNulls(JSON.stringify(written), schema))).to.deep.equal(
            JSON.parse(JSON.stringify(value)),
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it("do not change the given schema", () => {
    fc.assert(
      fc.property(ROOTS, ({ schema }) => {
        const before = JSON.stringify(schema);
        toStrictSchema(schema, OPENAI_DIALECT);
        expect(JSON.stringify(schema)).to.equal(before);
      }),
    );
  });

  it("need no removal without optional properties", () => {
    const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
    expect(toStrictSchema(schema, OPENAI_DIALECT)?.addsNulls).to.equal(false);
  });

  const root = (property: JsonSchema, more: JsonSchema = {}): JsonSchema => ({
    type: "object",
    properties: { a: property },
    required: ["a"],
    ...more,
  });
  const deep = (levels: number): JsonSchema =>
    levels === 0 ? { type: "string" } : root(deep(levels - 1));
  const impossible: readonly (readonly [string, JsonSchema])[] = [
    ["a root that is a list", { type: "array", items: { type: "string" } }],
    ["a root that is a choice", { anyOf: [root({ type: "string" })] }],
    ["an open record", root({ type: "object", additionalProperties: { type: "string" } })],
    ["an object without properties", root({ type: "object" })],
    ["a value of any type", root({})],
    ["a list of any values", root({ type: "array", items: true })],
    ["an unsupported keyword", root({ type: "string", minLength: 1 })],
    ["an unknown format", root({ type: "string", format: "color" })],
    ["allOf", root({ allOf: [{ type: "string" }] })],
    ["an external reference", root({ $ref: "https://example.com/schema.json" })],
    ["a reference to nothing", root({ $ref: "#/$defs/gone" })],
    [
      "a required property that does not exist",
      { type: "object", properties: {}, required: ["a"] },
    ],
    [
      "choices next to properties",
      { type: "object", properties: { a: { type: "string" } }, anyOf: [{ required: ["a"] }] },
    ],
    ["no choices", root({ anyOf: [] })],
    ["eleven levels of objects", deep(11)],
    ["a thousand levels", deep(1000)],
    ["too many values", root({ enum: Array.from({ length: 1001 }, (_, index) => index) })],
  ];
  for (const [what, schema] of impossible) {
    it(`can't be created from ${what}`, () => {
      expect(toStrictSchema(schema, OPENAI_DIALECT)).to.equal(undefined);
    });
  }

  it("may be recursive", () => {
    const schema = root(
      { $ref: "#" },
      { properties: { a: { type: "string" }, next: { $ref: "#" } } },
    );
    expect(toStrictSchema(schema, OPENAI_DIALECT)?.schema).to.have.deep.nested.property(
      "properties.next",
      { anyOf: [{ $ref: "#" }, { type: "null" }] },
    );
    expect(removeNulls('{"a":"x","next":{"a":"y","next":null}}', schema)).to.equal(
      '{"a":"x","next":{"a":"y"}}',
    );
  });

  it("are created once for each schema", () => {
    const schemas = new StrictSchemas(OPENAI_DIALECT);
    const schema = root({ type: "string" });
    expect(schemas.find(schema)).to.equal(schemas.find(schema)).and.not.equal(undefined);
    expect(schemas.find({ type: "array" })).to.equal(undefined);
  });
});

describe("removeNulls()", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "string" }, b: { type: "string" } },
    required: ["a"],
  };

  for (const text of [
    "not json, null",
    '{"a":"x","b":null',
    "null",
    "[null]",
    '{"a":null,"b":"x"}',
    '{"c":null}',
    `${"[".repeat(1000)}null`,
  ]) {
    it(`keeps ${text.slice(0, 30)} unchanged`, () => {
      expect(removeNulls(text, schema)).to.equal(text);
    });
  }

  it("returns values without such nulls unchanged", () => {
    expect(removeNulls('{ "a": "null", "b": "1.0" }', schema)).to.equal(
      '{ "a": "null", "b": "1.0" }',
    );
  });

  it("also accepts answers that are less strict than requested", () => {
    const loose = {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" }, c: { type: "string" } },
    };
    expect(removeNulls('{"a":"x","b":null}', loose)).to.equal('{"a":"x"}');
  });
});
