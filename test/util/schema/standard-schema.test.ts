import type { StandardSchemaV1 } from "@standard-schema/spec";
import { expect } from "chai";
import * as z from "zod";
import {
  checkAtOnce,
  checkValue,
  checkValueNow,
  isValidating,
  parseText,
} from "../../../src/util/schema/standard-schema.js";

const person = z.object({ name: z.string(), tags: z.array(z.number()) });
const schemaOf = (
  validate: StandardSchemaV1.Props["validate"],
): { readonly "~standard": StandardSchemaV1.Props } => ({
  "~standard": { version: 1, vendor: "test", validate },
});

describe("isValidating", () => {
  it("accepts a Standard Schema, alone or with its JSON Schema", () => {
    expect(isValidating(person)).to.equal(true);
    expect(isValidating({ schema: person, jsonSchema: {} })).to.equal(true);
  });

  it("refuses plain JSON Schema, even with a field named schema", () => {
    expect(isValidating({ type: "object" })).to.equal(false);
    expect(isValidating({ schema: { type: "string" }, jsonSchema: {} })).to.equal(false);
    expect(isValidating({ schema: null })).to.equal(false);
  });
});

describe("checkValue", () => {
  it("returns the value that the schema returned", async () => {
    const upper = z.string().transform((text) => text.toUpperCase());
    expect(await checkValue(upper, "a")).to.deep.equal({ ok: true, value: "A" });
    expect(await checkValue({ schema: upper, jsonSchema: {} }, "b")).to.deep.equal({
      ok: true,
      value: "B",
    });
  });

  it("lists the problems with their paths", async () => {
    const checked = await checkValue(person, { tags: [1, "x"] });
    expect(checked)
      .to.have.property("problem")
      .that.matches(/^name: .+; tags\.1: .+$/);
  });

  it("reports a schema that throws or rejects as a problem", async () => {
    const thrown = schemaOf(() => {
      throw new Error("broken");
    });
    const rejected = schemaOf(() => Promise.reject(new Error("late")));
    expect(await checkValue(thrown, 1)).to.deep.equal({ ok: false, problem: "broken" });
    expect(await checkValue(rejected, 1)).to.deep.equal({ ok: false, problem: "late" });
  });
});

describe("checkAtOnce and checkValueNow", () => {
  const late = schemaOf((value) => Promise.resolve({ value }));

  it("return no promise if the schema returns none", () => {
    expect(checkAtOnce(z.number(), 1)).to.deep.equal({ ok: true, value: 1 });
    expect(checkValueNow(z.number(), 1)).to.deep.equal({ ok: true, value: 1 });
  });

  it("return a promise and undefined if the schema returns a promise", async () => {
    expect(checkValueNow(late, 1)).to.equal(undefined);
    expect(await checkAtOnce(late, 1)).to.deep.equal({ ok: true, value: 1 });
  });
});

describe("parseText", () => {
  it("checks the value of a JSON text", async () => {
    expect(await parseText(z.number(), "7")).to.deep.equal({ ok: true, value: 7 });
    expect(await parseText(z.number(), '"7"')).to.include({ ok: false });
    expect(await parseText(z.number(), "{")).to.include({ ok: false });
  });
});
