import { expect } from "chai";
import { JsonSchemaValidators, checkingSchemaOf } from "../../../src/util/schema/json-schema.js";
import { checkValue } from "../../../src/util/schema/standard-schema.js";

const PERSON = Object.freeze({
  type: "object",
  properties: { name: { type: "string", minLength: 1 }, "a/b": { type: "integer" } },
  additionalProperties: false,
});
const UNREADABLE = { type: "object", properties: { name: { pattern: "(" } } };

async function errorOf(work: () => unknown): Promise<Error> {
  try {
    await work();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
}

describe("checkingSchemaOf", () => {
  it("keeps the JSON Schema and checks values by it", async () => {
    const schema = await checkingSchemaOf("person", PERSON);
    expect(schema.jsonSchema).to.equal(PERSON);
    expect(await checkValue(schema, { name: "Ann" })).to.deep.equal({
      ok: true,
      value: { name: "Ann" },
    });
  });

  for (const [what, value, problem] of [
    ["a value below a field", { name: "" }, "name: String is too short (0 < 1)."],
    ["a field that is not allowed", { nam: 1 }, "nam: not allowed"],
    ["a name with a slash", { "a/b": "x" }, /^a\/b: /],
  ] as const) {
    it(`names the invalid position: ${what}`, async () => {
      const checked = await checkValue(await checkingSchemaOf("person", PERSON), value);
      if (typeof problem === "string") expect(checked).to.deep.equal({ ok: false, problem });
      else expect(checked).to.have.property("problem").that.matches(problem);
    });
  }

  it("follows the draft that $schema names", async () => {
    const tuple = { items: [{ type: "string" }] };
    const schemas = ["http://json-schema.org/draft-07/schema#", undefined].map((dialect) =>
      checkingSchemaOf("pair", { $schema: dialect, ...tuple }),
    );
    const [old] = await Promise.all(schemas);
    expect(await checkValue(old as Awaited<(typeof schemas)[0]>, [1])).to.include({ ok: false });
  });
});

describe("JsonSchemaValidators", () => {
  it("returns a promise while a schema is prepared, and a result afterwards", async () => {
    const schemas = new JsonSchemaValidators();
    const first = schemas.check(PERSON, { name: "Ann" }, "The value", "v");
    expect(first).to.be.instanceOf(Promise);
    expect(await first).to.deep.equal({ ok: true, value: { name: "Ann" } });
    expect(schemas.check(PERSON, { nam: 1 }, "The value", "v")).to.deep.equal({
      ok: false,
      problem: "nam: not allowed",
    });
  });

  it("names the purpose of an unreadable schema, each time", async () => {
    const schemas = new JsonSchemaValidators();
    for (const _ of [1, 2]) {
      const { message } = await errorOf(() =>
        schemas.check(UNREADABLE, { name: "Ann" }, "The field", "f"),
      );
      expect(message).to.match(/^The field 'f' can't be read as a JSON Schema: [^\n]+$/);
    }
  });
});
