import { expect } from "chai";
import { curlOf } from "../../../page/src/lib/control/curl.js";
import {
  fieldValue,
  formFields,
  formResult,
  type FormValues,
} from "../../../page/src/lib/control/form-fields.js";

const SCHEMA = {
  type: "object",
  required: ["topic", "limits"],
  properties: {
    topic: { type: "string", title: "Topic", description: "What it is about" },
    audience: { enum: ["investors", "engineers", 3] },
    sources: { type: "integer", minimum: 1 },
    cite: { type: "boolean", default: true },
    until: { type: "string", format: "date" },
    tags: { type: "array", items: { type: "string" }, maxItems: 2 },
    limits: {
      type: "object",
      required: ["cost"],
      properties: { cost: { type: "number" }, deep: { type: "object", properties: { a: {} } } },
    },
    long: { $ref: "#/$defs/Long" },
    other: { type: ["string", "null"] },
  },
  $defs: { Long: { type: "string", maxLength: 4_000, description: "Notes" } },
};

const result = (values: FormValues): ReturnType<typeof formResult> =>
  formResult(formFields(SCHEMA), values);

describe("form of the inputs", () => {
  it("has a field for each property, including those of one inner object", () => {
    const fields = formFields(SCHEMA, { topic: "heat pumps", tags: ["a", "b"] });
    expect(fields.map(({ key, kind }) => `${key} ${kind}`)).to.deep.equal([
      "topic text",
      "audience choice",
      "sources number",
      "cite boolean",
      "until date",
      "tags lines",
      "limits.cost number",
      "limits.deep json",
      "long long",
      "other json",
    ]);
    expect(fields.map(({ initial }) => initial)).to.deep.equal([
      ...["heat pumps", "", "", true, "", "a\nb", "", "", "", ""],
    ]);
    expect(fields.filter(({ isRequired }) => isRequired).map(({ key }) => key)).to.deep.equal([
      "topic",
      "limits.cost",
    ]);
  });

  it("returns the inputs in the form of their schema, and omits empty ones", () => {
    const { inputs, problems } = result({
      topic: "heat pumps",
      audience: "3",
      sources: "5",
      "limits.cost": "0.5",
      tags: "a\n\nb\n",
      other: "null",
    });
    expect(problems).to.deep.equal({});
    expect(inputs).to.deep.equal({
      topic: "heat pumps",
      audience: 3,
      sources: 5,
      cite: true,
      limits: { cost: 0.5 },
      tags: ["a", "b"],
      other: null,
    });
  });

  it("reports the problem of each field", () => {
    const { problems } = result({
      sources: "0",
      "limits.cost": "much",
      tags: "a\nb\nc",
      other: "{",
    });
    expect(Object.keys(problems)).to.have.members([
      "topic",
      "sources",
      "limits.cost",
      "tags",
      "other",
    ]);
    expect(problems["topic"]).to.equal("This is required.");
    expect(problems["limits.cost"]).to.equal("This must be a number.");
    expect(problems["other"]).to.equal("This must be JSON.");
  });

  it("accepts names of properties of Object", () => {
    const own = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"}}}',
    ) as object;
    const { inputs } = formResult(formFields({ ...own }), { ["__proto__"]: "x" });
    expect(Object.keys(inputs)).to.deep.equal(["__proto__"]);
    expect(Object.getPrototypeOf(inputs)).to.equal(Object.prototype);
    const [field] = formFields({
      type: "object",
      properties: { constructor: { type: "string" } },
    });
    expect([field?.initial, field && fieldValue(field, {})]).to.deep.equal(["", ""]);
    expect(formResult(field ? [field] : [], {}).inputs).to.deep.equal({});
  });

  it("is one text box if the names of the inputs are unknown", () => {
    const fields = formFields({ type: "object", additionalProperties: true });
    expect(fields.map(({ key, kind, title }) => [key, kind, title])).to.deep.equal([
      ["", "json", "Inputs"],
    ]);
    expect(formResult(fields, { [""]: '{"topic":"wind"}' }).inputs).to.deep.equal({
      topic: "wind",
    });
    expect(Object.keys(formResult(fields, { [""]: "[1]" }).problems)).to.deep.equal([""]);
    expect(formResult(fields, {})).to.deep.equal({ inputs: {}, problems: {} });
    expect(formFields({ type: "object", additionalProperties: false })).to.deep.equal([]);
  });

  it("can be written as a command, with escaped quotation marks and without a token", () => {
    const command = curlOf("http://localhost:7329", "/api/runs", { topic: "it's" }, false);
    expect(command).to.contain(`-H 'origin: http://localhost:7329'`);
    expect(command).to.contain(`-d '{"topic":"it'\\''s"}'`);
    expect(curlOf("http://localhost:7329", "/api/runs", {}, true)).to.contain("$BOARD_TOKEN");
  });
});
