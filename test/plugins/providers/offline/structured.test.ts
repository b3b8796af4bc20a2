import { expect } from "chai";
import { z } from "zod";
import type { JsonSchema } from "../../../../src/contracts/types.js";
import { NO_SOURCE } from "../../../../src/plugins/providers/offline/extractive-model.js";
import { offline } from "../../../../src/plugins/providers/offline/index.js";
import { BEES, filled, withContext } from "./prompts.js";

const SOURCE = withContext({ raw: BEES });

describe("the offline model with a JSON request", () => {
  const model = offline();
  const fill = (schema: object, messages = SOURCE): Promise<unknown> =>
    filled(model, schema as JsonSchema, messages);

  it("fills a schema of zod with a valid value, with quotes in their places", async () => {
    const Finding = z.object({
      quote: z.string(),
      source: z.string(),
      confidence: z.number().min(1).max(5),
    });
    const schema = z.object({
      title: z.string(),
      summary: z.string(),
      findings: z.array(Finding).min(1).max(2),
      keyPoints: z.array(z.string()).optional(),
      note: z.string().optional(),
      kind: z.enum(["report", "letter"]),
      fixed: z.literal(7),
      final: z.boolean(),
      maybe: z.string().nullable(),
      left: z.number().optional(),
      nested: z.object({ inner: z.object({ text: z.string() }) }),
    });
    const value = schema.parse(await fill(z.toJSONSchema(schema)));
    expect(value).to.include({ kind: "report", fixed: 7, final: false });
    expect(value).not.to.have.property("left");
    expect(value.findings.length).to.equal(2);
    expect(["Bees", "Winter"]).to.include(value.title);
    const quotes = [
      value.summary,
      value.note,
      value.maybe,
      value.nested.inner.text,
      ...(value.keyPoints ?? []),
      ...value.findings.map((finding) => finding.quote),
    ];
    for (const quote of quotes) expect(BEES).to.contain(quote);
    for (const { quote, source, confidence } of value.findings) {
      expect(source).to.equal(BEES.indexOf(quote) > BEES.indexOf("## Winter") ? "Winter" : "Bees");
      expect(confidence).to.equal(1);
    }
  });

  it("writes one sentence into all texts of one list item", async () => {
    const item = {
      type: "object",
      required: ["claim", "evidence"],
      properties: {
        claim: { type: "string" },
        evidence: { type: "array", items: { type: "string" } },
      },
    };
    const items = (await fill({ type: "array", items: item })) as {
      claim: string;
      evidence: string[];
    }[];
    expect(items.length).to.equal(3);
    for (const { claim, evidence } of items) expect(evidence).to.deep.equal([claim]);
  });

  it("respects the limits of lists, texts and numbers", async () => {
    const schema = {
      type: "object",
      required: ["many", "short", "n", "sources"],
      properties: {
        many: { type: "array", items: { type: "string" }, minItems: 5 },
        short: { type: "string", maxLength: 20 },
        n: { type: "integer", exclusiveMinimum: 3 },
        sources: { type: "array", items: { type: "string" } },
      },
    };
    const value = (await fill(schema)) as {
      many: string[];
      short: string;
      n: number;
      sources: string[];
    };
    expect(value.many.length).to.equal(5);
    expect(value.short.length).to.be.within(1, 20);
    expect(BEES).to.contain(value.short);
    expect(value.n).to.equal(4);
    expect(new Set(value.sources).size).to.equal(value.sources.length);
  });

  it("follows references, unions and parts, and ends at recursive schemas", async () => {
    const schema = {
      $ref: "#/$defs/node",
      $defs: {
        node: {
          type: "object",
          required: ["text", "children"],
          properties: {
            text: { $ref: "#/$defs/text" },
            children: { type: "array", items: { $ref: "#/$defs/node" } },
          },
        },
        text: { type: ["null", "string"] },
      },
    };
    expect(await fill(schema))
      .to.have.property("text")
      .that.is.a("string");
    expect(await fill({ $ref: "#" })).to.equal(null);
    expect(await fill({ anyOf: [{ type: "null" }, { type: "boolean" }] })).to.equal(false);
    expect(
      await fill({
        allOf: [
          { type: "object", required: ["a"], properties: { a: { type: "integer" } } },
          { required: ["b"], properties: { b: { const: 1 } } },
        ],
      }),
    ).to.deep.equal({ a: 0, b: 1 });
    expect(
      await fill({ type: "array", prefixItems: [{ type: "number" }, { type: "boolean" }] }),
    ).to.deep.equal([0, false]);
    expect(await fill({ type: "object", additionalProperties: { type: "string" } })).to.deep.equal(
      {},
    );
  });

  it("reports a missing source in every text, and keeps lists empty", async () => {
    const schema = {
      type: "object",
      required: ["text", "list"],
      properties: { text: { type: "string" }, list: { type: "array", items: { type: "string" } } },
    };
    expect(await fill(schema, [{ role: "user", content: "No text here." }])).to.deep.equal({
      text: NO_SOURCE,
      list: [],
    });
  });
});
