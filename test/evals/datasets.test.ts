import { createWriteStream, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { Dataset, evaluate, exact, scorer } from "agentensemble/evals";
import { expect } from "chai";
import { z } from "zod";
import { IdSet } from "../../src/evals/datasets/id-set.js";
import { rejection } from "../support/rejection.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function allOf<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

function fileWith(name: string, text: string): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, text);
  return path;
}

describe("a dataset of JSON lines", () => {
  it("has one case per line, even if texts contain Unicode line separators", async () => {
    const path = fileWith(
      "cases.jsonl",
      `\uFEFF{"id":"a","input":"one\u2028two","expected":1,"tags":["x"]}\r\n\n{"input":{"q":"Größe"}}`,
    );
    expect(await allOf(Dataset.jsonl(path).read())).to.deep.equal([
      { id: "a", input: "one\u2028two", expected: 1, tags: ["x"] },
      { input: { q: "Größe" } },
    ]);
  });

  it("converts inputs and expected values by their schemas", async () => {
    const path = fileWith("cases.jsonl", '{"input":"3","expected":"4"}\n');
    const dataset = Dataset.jsonl(path, {
      inputType: z.coerce.number(),
      expectedType: z.coerce.number(),
    });
    expect(await allOf(dataset.read())).to.deep.equal([{ input: 3, expected: 4 }]);
  });

  it("converts other rows to cases with a function", async () => {
    const path = fileWith("rows.jsonl", '{"question":"Why?","answer":"So."}\n');
    const dataset = Dataset.jsonl(path, {
      map: ({ question, answer }) => ({ input: question, expected: answer }),
    });
    expect(await allOf(dataset.read())).to.deep.equal([{ input: "Why?", expected: "So." }]);
  });

  const wrong: readonly (readonly [string, string, object, RegExp])[] = [
    [
      "invalid JSON",
      '{"input":1}\n{"input":',
      { code: "AE_FILE_FORMAT", line: 2 },
      /line 2 is not JSON/,
    ],
    [
      "a value that is not an object",
      "[1]\n",
      { code: "AE_FILE_FORMAT", line: 1 },
      /not a JSON object/,
    ],
    ["another type", '{"input":true}', { code: "AE_DATASET" }, /line 1: input does not match/],
  ];
  for (const [what, text, fields, message] of wrong)
    it(`names the line with ${what}`, async () => {
      const dataset = Dataset.jsonl(fileWith("wrong.jsonl", text), { inputType: z.number() });
      const error = await rejection(allOf(dataset.read()));
      expect(error).to.include(fields);
      expect((error as Error).message).to.match(message);
    });

  it("names a missing file", async () => {
    const error = await rejection(allOf(Dataset.jsonl("/nowhere/cases.jsonl").read()));
    expect(error).to.include({ code: "AE_VALIDATION" });
    expect((error as Error).message).to.contain("/nowhere/cases.jsonl");
  });

  it("of 50,000 lines is evaluated without keeping the lines in memory", async function () {
    this.timeout(60_000);
    const path = join(temporaryFolder(), "many.jsonl");
    const file = createWriteStream(path);
    for (let i = 0; i < 50_000; i++) file.write(`{"input":${i},"expected":${i}}\n`);
    file.end();
    await once(file, "close");
    const began = performance.now();
    const positions = new Set<number>();
    const result = await evaluate({
      name: "many",
      target: (i: number) => i,
      dataset: Dataset.jsonl<number, number>(path),
      scorers: [
        scorer("seen", ({ case: { position } }) => {
          positions.add(position);
          return 1;
        }),
        exact(),
      ],
      only: { sample: 200 },
      keepCases: 10,
    });
    expect(positions.size).to.equal(200);
    expect(result.dataset).to.include({ cases: 50_000, selected: 200 });
    expect(result.cases.length).to.equal(10);
    expect(result.scores[1]).to.include({ cases: 200, mean: 1 });
    expect(performance.now() - began).to.be.lessThan(60_000);
  });
});

describe("a dataset of CSV", () => {
  it("reads id, expected and tags from the columns of these names, and the input from the other columns", async () => {
    const path = fileWith(
      "cases.csv",
      '\uFEFFid,city,country,expected,tags\na,"Paris, ""FR""",France,yes,x; y\n,"two\nlines",Chad,,\n',
    );
    expect(await allOf(Dataset.csv(path).read())).to.deep.equal([
      {
        ...{ id: "a", input: { city: 'Paris, "FR"', country: "France" } },
        ...{ expected: "yes", tags: ["x", "y"] },
      },
      { input: { city: "two\nlines", country: "Chad" }, tags: [] },
    ]);
  });

  it("reads the column `input` as text", async () => {
    const path = fileWith("cases.csv", "input,expected\nWhy?,So.\n");
    expect(await allOf(Dataset.csv(path).read())).to.deep.equal([
      { input: "Why?", expected: "So." },
    ]);
  });

  it("names the line of a row with too many fields", async () => {
    const error = await rejection(
      allOf(Dataset.csv(fileWith("wrong.csv", "input,expected\na,b\nc,d,e\n")).read()),
    );
    expect(error).to.include({ code: "AE_FILE_FORMAT", line: 3 });
  });

  it("names a missing file", async () => {
    const error = await rejection(allOf(Dataset.csv("/nowhere/cases.csv").read()));
    expect(error).to.include({ code: "AE_VALIDATION" });
  });
});

describe("a dataset that changes between its two passes", () => {
  it("is refused", async () => {
    let passes = 0;
    const error = await rejection(
      evaluate({
        name: "changing",
        target: (i: number) => i,
        dataset: {
          async *read() {
            yield { input: 1 };
            if (passes++ > 0) yield { input: 2 };
          },
        },
        scorers: [exact()],
      }),
    );
    expect(error).to.include({ code: "AE_DATASET", reason: "CHANGED" });
  });
});

describe("a set of ids", () => {
  it("distinguishes 100,000 ids", () => {
    const ids = new IdSet();
    for (let i = 0; i < 100_000; i++) expect(ids.add(`case-${i}`)).to.equal(true);
    for (let i = 0; i < 100_000; i += 999) expect(ids.add(`case-${i}`)).to.equal(false);
  });
});
