import { expect } from "chai";
import type { JsonSchema } from "../../../../src/contracts/types.js";
import { SchemaFiller } from "../../../../src/plugins/providers/offline/schema-filler.js";

const quotes = [
  { text: "The sea is blue.", source: "sea.md" },
  { text: "Sand is yellow." },
] as unknown as ConstructorParameters<typeof SchemaFiller>[1]; // nothing else is read

function filled(schema: JsonSchema, from = quotes): unknown {
  return new SchemaFiller(schema, from, [], "nothing").fill();
}

describe("a schema filled without a model", () => {
  it("uses a string for a reference that can't be resolved", () => {
    expect(filled({ $ref: "#/$defs/none" })).to.equal("The sea is blue.");
    expect(filled({ $ref: "#/$defs/a/b", $defs: { a: true } })).to.equal("The sea is blue.");
  });

  it("ends at a reference to itself", () => {
    expect(filled({ $ref: "#" })).to.equal(null);
    const list: JsonSchema = { type: "array", items: { $ref: "#" } };
    expect(JSON.stringify(filled(list))).to.match(/^\[/);
  });

  it("infers the type of a schema without a type", () => {
    expect(filled({ type: ["null"] })).to.equal(null);
    expect(filled({ type: ["null", "boolean"] })).to.equal(false);
    expect(filled({ properties: {} })).to.deep.equal({});
    expect(filled({ items: { type: "integer" } })).to.deep.equal([]);
    expect(filled({ prefixItems: [{ type: "boolean" }, { const: 3 }] })).to.deep.equal([false, 3]);
    expect(filled({})).to.equal("The sea is blue.");
  });

  it("uses empty lists and objects if their parts are not described", () => {
    expect(filled({ type: "object" })).to.deep.equal({});
    expect(filled({ type: "array", items: { type: "object" } })).to.deep.equal([]);
    expect(filled({ type: "array", items: { type: "array" } })).to.deep.equal([]);
    expect(filled({ type: "array", minItems: 1 })).to.have.length(2);
  });

  it("names each source once, and an unknown source", () => {
    const property = { type: "array", items: { type: "string" } };
    const schema = { type: "object", properties: { sources: property } };
    expect(filled(schema)).to.deep.equal({ sources: ["sea.md", "unknown"] });
  });

  it("keeps the limits of texts and numbers", () => {
    expect(filled({ type: "string", maxLength: 5 })).to.equal("The");
    expect(filled({ type: "string" }, [])).to.equal("nothing");
    expect(filled({ type: "integer", exclusiveMinimum: 4 })).to.equal(5);
    expect(filled({ type: "number", maximum: -2 })).to.equal(-2);
  });

  it("satisfies all parts of a schema", () => {
    const parts: JsonSchema = {
      allOf: [
        { properties: { a: { type: "integer" } }, required: ["a"] },
        { properties: { b: { type: "boolean" } }, required: ["b"] },
      ],
    };
    expect(filled(parts)).to.deep.equal({ a: 0, b: false });
    expect(filled({ allOf: [{ minimum: 3 }, { type: "integer" }] })).to.equal(3);
  });

  it("uses the only branch, even if it is null", () => {
    expect(filled({ anyOf: [{ type: "null" }] })).to.equal(null);
    expect(filled({ oneOf: [{ type: "null" }, { const: 1 }] })).to.equal(1);
  });
});
