import { expect } from "chai";
import type { JsonSchema } from "../../../src/contracts/types.js";
import { fitProblem } from "../../../page/src/lib/reviews/schema-check.js";

describe("check of an edit by its schema", () => {
  const cases: readonly (readonly [string, JsonSchema, unknown, string | undefined])[] = [
    ["several types", { type: ["string", "null"] }, null, undefined],
    ["a wrong type", { type: ["string", "null"] }, 1, "The value must be a text or null."],
    ["a constant", { const: "a" }, "b", 'The value must be "a".'],
    ["an enumeration", { enum: ["a", 2] }, 3, 'The value must be one of "a", 2.'],
    ["a short text", { minLength: 2 }, "🙂", "The value needs at least 2 characters."],
    ["a long text", { maxLength: 1 }, "ab", "The value has more than 1 characters."],
    ["a small number", { exclusiveMinimum: 0 }, 0, "The value must be above 0."],
    ["a large number", { exclusiveMaximum: 5 }, 5, "The value must be below 5."],
    ["a number below the minimum", { minimum: 1 }, 0, "The value must be at least 1."],
    ["a short list", { minItems: 1 }, [], "The value needs at least 1 items."],
    ["a long list", { maxItems: 1 }, [1, 2], "The value has more than 1 items."],
    [
      "all of several",
      { allOf: [{ type: "number" }, { minimum: 3 }] },
      2,
      "The value must be at least 3.",
    ],
    ["any of several", { anyOf: [{ type: "number" }, { type: "string" }] }, "x", undefined],
    [
      "none of several",
      { oneOf: [{ type: "number" }, { type: "string" }] },
      true,
      "The value must be a number.",
    ],
    ["an unknown keyword", { format: "unheard-of" }, "x", undefined],
  ];
  for (const [name, schema, value, expected] of cases)
    it(`recognises ${name}`, () => {
      expect(fitProblem(schema, value)).to.equal(expected);
    });

  it("names the position in nested values", () => {
    const schema = {
      type: "object",
      properties: { people: { type: "array", items: { $ref: "#/$defs/person" } } },
      $defs: { person: { type: "object", properties: { age: { type: "integer" } } } },
    };
    expect(fitProblem(schema, { people: [{ age: 1 }, { age: "2" }] })).to.equal(
      "people[1].age must be a whole number.",
    );
  });

  it("ends with schemas that contain themselves", () => {
    const schema = { $ref: "#" };
    expect(fitProblem(schema, { a: 1 })).to.equal(undefined);
  });

  it("does not accept names of Object as fields", () => {
    const schema = { type: "object", required: ["toString"], additionalProperties: false };
    expect(fitProblem(schema, {})).to.equal("toString is missing.");
    expect(fitProblem({ ...schema, required: [] }, { constructor: 1 })).to.equal(
      "constructor is not a known field.",
    );
  });
});
