import { expect } from "chai";
import { describedInput } from "../../../src/plugins/shared/described-input.js";

describe("the input of a tool that passes its arguments on", () => {
  const jsonSchema = {
    type: "object",
    properties: { a: { type: "string", pattern: "^(a+)+$" }, b: { $ref: "#/$defs/none" } },
    required: ["a", 1],
  };
  const { schema } = describedInput(jsonSchema);
  const check = (value: unknown): unknown => schema["~standard"].validate(value);

  it("sends models the unchanged schema", () => {
    expect(describedInput(jsonSchema).jsonSchema).to.equal(jsonSchema);
  });

  it("is checked only for its required names: its patterns and references are untrusted", () => {
    const long = { a: `${"a".repeat(40)}!`, b: 1 }; // the pattern takes exponential time
    expect(check(long)).to.deep.equal({ value: long });
    expect(check({ b: 1 })).to.deep.equal({
      issues: [{ message: "missing required parameter(s): a" }],
    });
    for (const other of ["a", null, []])
      expect(check(other)).to.deep.equal({ issues: [{ message: "expected a JSON object" }] });
  });
});
