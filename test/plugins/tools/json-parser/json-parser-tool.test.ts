import { Agent, Ensemble, Task, ToolResult } from "agentensemble";
import { ScriptedModel, toolContract } from "agentensemble/testing";
import { expect } from "chai";
import fc from "fast-check";
import { jsonParserTool } from "../../../../src/plugins/tools/json-parser/index.js";
import { loneContext } from "../lone-context.js";

async function parse(jsonPath: unknown, json: unknown): Promise<ToolResult> {
  const result: unknown = await jsonParserTool().execute(
    { jsonPath, json } as never,
    loneContext(),
  );
  if (!ToolResult.isInstance(result)) throw new Error("no ToolResult");
  return result;
}

const ORDER = `{ "id": 12345678901234567890, "rate": 1.50, "open": true, "note": null, "name": "Ann \\"A\\" \\u00e9",
  "items": [ { "price": 5, "unit.price": "a" }, [ 1, [ 2 ] ] ], "a[0]": "bracket", "it's": "quote", "": "empty", "$": "dollar", "big": [1e400, -0.0] }`;

const VALUES: readonly (readonly [string, string])[] = [
  ["name", 'Ann "A" é'],
  ["id", "12345678901234567890"], // all its digits
  ["rate", "1.50"],
  ["open", "true"],
  ["note", "null"],
  ["items[0].price", "5"],
  ["items[1][1][0]", "2"],
  ["items[0]", '{"price":5,"unit.price":"a"}'],
  ["items", '[{"price":5,"unit.price":"a"},[1,[2]]]'],
  ['items[0]["unit.price"]', "a"],
  ["items[0]['unit.price']", "a"],
  ['items[0]."unit.price"', "a"],
  ['"a[0]"', "bracket"],
  ['["a[0]"]', "bracket"],
  ["['it\\'s']", "quote"],
  ['"it\'s"', "quote"],
  ['""', "empty"],
  ['"$"', "dollar"],
  ["$.name", 'Ann "A" é'],
  ["$['open']", "true"],
  ["big", "[1e400,-0.0]"],
];

const FAILURES: readonly (readonly [unknown, unknown, string | RegExp])[] = [
  ["", "{}", "Path expression must not be blank"],
  [" ", "{}", "Path expression must not be blank"],
  ["a", "", "JSON content must not be blank"],
  ["a", "  ", "JSON content must not be blank"],
  ["a", "{a:1}", /^Invalid JSON: /],
  ["a", '{"a":1} x', /^Invalid JSON: /],
  ["a", "'a'", /^Invalid JSON: /],
  ["a.b.c", '{"a":{"b":{}}}', "Path not found: 'c'"],
  ["a.x.c", '{"a":{"b":{}}}', "Path not found: 'x'"],
  ["a.length", '{"a":"text"}', "Path not found: 'length'"],
  ["toString", "{}", "Path not found: 'toString'"],
  ["a[0]", '{"a":{"0":1}}', "Path not found: 'a[0]'"],
  ["a.b", '{"a":null}', "Path not found: 'b'"],
  [
    "a[2]",
    '{"a":[1,2]}',
    "Array index out of bounds: index 2 is out of bounds for array of size 2",
  ],
  ["[0]", "[]", "Array index out of bounds: index 0 is out of bounds for array of size 0"],
  [
    "a[-1]",
    '{"a":[1]}',
    /^Invalid path: expected \[n\] or \["name"\] at position 1, found '\[-1\]'/,
  ],
  ["a[x]", '{"a":[1]}', /^Invalid path: /],
  ["a[*]", '{"a":[1]}', /^Invalid path: /],
  ["a[]", '{"a":[1]}', /^Invalid path: /],
  ["a[0", '{"a":[1]}', /^Invalid path: /],
  ["a..b", '{"a":1}', /^Invalid path: expected a name at position 2/],
  ["a.", '{"a":1}', /^Invalid path: expected a name at position 2, found the end/],
  [".a", '{"a":1}', /^Invalid path: /],
  ["[0]a", '[{"a":1}]', /^Invalid path: expected a dot or a bracket at position 3/],
  ['"a"b', '{"a":1}', /^Invalid path: /],
  ['"a', '{"a":1}', /^Invalid path: /],
  ["__proto__", '{"a":1}', "Invalid path: the key '__proto__' is not allowed"],
  ["a.constructor.name", '{"a":1}', "Invalid path: the key 'constructor' is not allowed"],
  ['["prototype"]', '{"prototype":1}', "Invalid path: the key 'prototype' is not allowed"],
  ["a", `${"[".repeat(501)}${"]".repeat(501)}`, "Invalid JSON: more than 500 levels of nesting"],
  [
    "a",
    `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
    "Invalid JSON: more than 500 levels of nesting",
  ],
  [
    "a",
    `"${"x".repeat(250_000)}"`,
    "JSON content must not have more than 250000 characters, got 250002",
  ],
  ["a".repeat(1_001), "{}", "Path expression must not have more than 1000 characters, got 1001"],
  [5, "{}", /^Invalid arguments: jsonPath/],
  ["a", { a: 1 }, /^Invalid arguments: json/],
  [null, null, /^Invalid arguments: jsonPath: /],
];

/** The path of a key, written with quotes. */
const quoted = (key: string): string => `["${key.replace(/["\\]/g, "\\$&")}"]`;

describe("jsonParserTool", () => {
  for (const [path, text] of VALUES) {
    it(`finds ${path}`, async () => {
      const { errorMessage, output } = await parse(path, ORDER);
      expect(errorMessage).to.equal(undefined);
      expect(output).to.equal(text);
    });
  }

  for (const [path, json, message] of FAILURES) {
    it(`fails for ${String(path).slice(0, 30)} in ${JSON.stringify(json)?.slice(0, 30)}`, async () => {
      const { ok, errorMessage } = await parse(path, json);
      expect(ok).to.equal(false);
      if (typeof message === "string") expect(errorMessage).to.equal(message);
      else expect(errorMessage).to.match(message);
    });
  }

  it("keeps the value for listeners", async () => {
    expect((await parse("items[0]", ORDER)).structured).to.deep.equal({
      price: 5,
      "unit.price": "a",
    });
    expect((await parse("name", ORDER)).structured).to.equal('Ann "A" é');
    const planted = await parse("a", '{"a":{"__proto__":{"admin":true},"b":1}}');
    expect(planted.output).to.equal('{"__proto__":{"admin":true},"b":1}');
    expect(planted.structured).to.equal(undefined);
  });

  it("returns any document as compact JSON", async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), async (json) => {
        const { output } = await parse("$", `[${json}]`);
        expect(output.replaceAll("-0", "0")).to.equal(
          JSON.stringify(JSON.parse(`[${json}]`)).replaceAll("-0", "0"),
        ); // JSON.stringify loses the sign of zero
      }),
      { numRuns: 300 },
    );
  });

  it("reaches every key with a quoted path", async () => {
    const key = fc
      .oneof(fc.string(), fc.constantFrom("a.b", "[0]", '"', "\\", "'", "$", "", "n1"))
      .filter((k) => !["__proto__", "constructor", "prototype"].includes(k));
    await fc.assert(
      fc.asyncProperty(key, fc.string(), async (name, value) => {
        expect(
          (await parse(quoted(name), JSON.stringify({ other: 1, [name]: value }))).output,
        ).to.equal(value);
      }),
      { numRuns: 300 },
    );
  });

  it("answers every path with a result", async () => {
    const path = fc.oneof(fc.string({ unit: fc.constantFrom(..."ab.[]0\"'\\$ ") }), fc.string());
    await fc.assert(
      fc.asyncProperty(path, async (jsonPath) => void (await parse(jsonPath, '{"a":[{"b":1}]}'))),
      { numRuns: 500 },
    );
  });

  it("reads long texts with many escapes", async () => {
    const long = '\\"'.repeat(120_000);
    expect((await parse("a", `{"a":"${long}"}`)).output).to.have.length(120_000);
  });

  it("has its arguments checked in a run, before it is called", async () => {
    const wrong = { jsonPath: "a[1]", json: "[1]", extra: 1 };
    const model = new ScriptedModel([
      { toolCalls: [{ name: "json_parser", arguments: wrong }] },
      "Done.",
    ]);
    const reader = new Agent({ role: "Reader", goal: "Read", tools: [jsonParserTool()] });
    const results: string[] = [];
    await using ensemble = new Ensemble({
      model,
      tasks: [new Task({ description: "Read", agent: reader })],
      onToolCall: (e) => void results.push(e.toolResult),
    });
    await ensemble.run();
    expect(results).to.have.length(1);
    expect(results[0]).to.match(
      /^Error: Invalid input for tool 'json_parser': unknown parameter 'extra'/,
    );
  });
});

toolContract("json_parser", {
  create: jsonParserTool,
  valid: [
    { jsonPath: "a", json: '{"a":1}' },
    { jsonPath: "[1].b", json: '[0,{"b":"x"}]' },
  ],
  invalid: [
    {},
    null,
    "a",
    { jsonPath: "a" },
    { jsonPath: 1, json: "{}" },
    { jsonPath: "a", json: "{}", more: 1 },
  ],
  failing: [{ jsonPath: "b", json: '{"a":1}' }],
});
