import { expect } from "chai";
import { expectTypeOf } from "expect-type";
import { toolArguments } from "../../../../src/plugins/tools/shared/arguments.js";

const args = toolArguments({
  properties: {
    path: { type: "string", description: "The file.", examples: ["a.txt"] },
    limit: { type: "integer", minimum: 1, description: "Lines.", examples: [10] },
    mode: { type: "string", enum: ["fast", "slow"], description: "How.", examples: ["fast"] },
    edits: {
      type: "array",
      minItems: 1,
      description: "Edits.",
      examples: [[{ find: "a" }]],
      items: {
        type: "object",
        properties: {
          find: { type: "string", description: "Old.", examples: ["a"] },
          all: { type: "boolean", description: "Each.", examples: [true] },
        },
        required: ["find"],
      },
    },
    headers: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "Headers.",
      examples: [{ a: "b" }],
    },
  },
  required: ["path"],
});

async function problemOf(value: unknown): Promise<string> {
  const read = await args.read(value);
  return read.ok ? "" : read.problem;
}

describe("toolArguments", () => {
  it("returns matching arguments with their types", async () => {
    const given = {
      path: "a",
      limit: 3,
      mode: "slow",
      edits: [{ find: "x", all: true }],
      headers: { a: "b" },
    };
    const read = await args.read(given);
    expect(read).to.deep.equal({ ok: true, value: given });
    if (!read.ok) return;
    expectTypeOf(read.value.path).toEqualTypeOf<string>();
    expectTypeOf(read.value.limit).toEqualTypeOf<number | undefined>();
    expectTypeOf(read.value.mode).toEqualTypeOf<"fast" | "slow" | undefined>();
    expectTypeOf(read.value.edits).toEqualTypeOf<
      readonly { readonly find: string; readonly all?: boolean | undefined }[] | undefined
    >();
    expectTypeOf(read.value.headers).toEqualTypeOf<Readonly<Record<string, unknown>> | undefined>();
  });

  it("closes every object that lists its properties", () => {
    const { properties, additionalProperties } = args.input.jsonSchema as {
      additionalProperties: unknown;
      properties: { edits: { items: object }; headers: object };
    };
    expect(additionalProperties).to.equal(false);
    expect(properties.edits.items).to.have.property("additionalProperties", false);
    expect(properties.headers).to.have.deep.property("additionalProperties", { type: "string" });
  });

  it("reports all problems together", async () => {
    const problem = await problemOf({
      limit: 0,
      mode: "quick",
      edits: [{ all: 1 }],
      pth: "x",
      headers: { a: 1 },
    });
    expect(problem).to.match(/^Invalid arguments: /);
    for (const part of [
      "path",
      "limit: 0 is less than 1",
      "mode: ",
      "edits.0: missing required parameter 'find'",
      "edits.0.all: ",
      "headers.a: ",
    ]) {
      expect(problem).to.include(part);
    }
    expect(problem).to.include("unknown parameter 'pth'").and.to.include("Did you mean 'path'?");
  });

  it("lists all missing arguments in one line", async () => {
    const two = toolArguments({
      properties: {
        a: { type: "string", description: "A.", examples: ["a"] },
        b: { type: "string", description: "B.", examples: ["b"] },
      },
      required: ["a", "b"],
    });
    expect(await two.read({})).to.deep.equal({
      ok: false,
      problem: "Invalid arguments: missing required parameter(s): a, b",
    });
  });

  it("treats null as absent for an optional argument, and refuses it for a required one", async () => {
    expect(
      await args.read({ path: "a", limit: null, edits: [{ find: "x", all: null }] }),
    ).to.deep.equal({
      ok: true,
      value: { path: "a", edits: [{ find: "x" }] },
    });
    expect(await problemOf({ path: null })).to.include("path: ");
  });

  for (const value of [undefined, null, 3, "text", ["a"]]) {
    it(`refuses ${JSON.stringify(value) ?? "nothing"} in place of an object`, async () => {
      expect(await problemOf(value)).to.equal("Invalid arguments: expected a JSON object");
    });
  }

  it("refuses a __proto__ key", async () => {
    expect(await problemOf(JSON.parse('{"path":"a","__proto__":{"limit":1}}'))).to.include(
      "unknown parameter '__proto__'",
    );
    expect(({} as { limit?: unknown }).limit).to.equal(undefined);
  });

  it("is a schema that the gateway accepts", async () => {
    const result = await args.input.schema["~standard"].validate({ path: 1 });
    expect(result.issues).to.have.length(1);
    expect(await args.input.schema["~standard"].validate({ path: "a" })).to.deep.equal({
      value: { path: "a" },
    });
  });
});
