import {
  constraintsMet,
  contains,
  costAtMost,
  delegatesTo,
  evaluate,
  exact,
  forbidsTools,
  jsonDifference,
  latencyAtMost,
  matchesSchema,
  numericTolerance,
  pattern,
  semanticSimilarity,
  tokensAtMost,
  toolCalledWith,
  toolCallsAtMost,
  toolsInOrder,
  type Sample,
  type Score,
  type Scorer,
  type ScorerContext,
  type TrialWay,
} from "agentensemble/evals";
import { ValidationError } from "agentensemble";
import { expect } from "chai";
import { z } from "zod";
import { NO_SPENDING } from "../../src/evals/way-of-runs.js";
import { rejection } from "../support/rejection.js";

const NO_WAY: TrialWay = {
  ...{ runIds: [], toolCalls: [], delegations: [], refusedDelegations: 0, conversations: [] },
  ...{ spending: NO_SPENDING, durationMs: 5 },
};
const CONTEXT: ScorerContext = {
  signal: new AbortController().signal,
  chat: () => Promise.reject(new Error("no model")),
  embed: (texts) => Promise.resolve(texts.map((text) => [text.length, 1])),
};

function sampleOf(output: unknown, expected?: unknown, way: Partial<TrialWay> = {}): Sample {
  const one = { id: "c", input: "q", position: 0 };
  return { case: one, input: "q", output, expected, trial: 1, way: { ...NO_WAY, ...way } };
}

/** The value of a score. */
async function valueOf(of: Scorer<unknown, unknown>, sample: Sample): Promise<number | undefined> {
  const score = await of(sample, CONTEXT);
  return typeof score === "object" ? score.value : score === undefined ? undefined : Number(score);
}

const call = (name: string, given: unknown = {}): TrialWay["toolCalls"][number] => ({
  ...{ name, arguments: given, result: "", outcome: "SUCCESS", taskId: "t" },
});
const calls = (...names: readonly string[]): Partial<TrialWay> => ({
  toolCalls: names.map((name) => call(name)),
});

describe("scorers", () => {
  const table: readonly (readonly [string, Scorer<unknown, unknown>, Sample, number])[] = [
    ["exact: equal texts", exact(), sampleOf("a", "a"), 1],
    ["exact: case matters", exact(), sampleOf("A", "a"), 0],
    [
      "exact: case and space ignored",
      exact({ ignoreCase: true, ignoreSpace: true }),
      sampleOf(" A\n b", "a b"),
      1,
    ],
    ["exact: objects in any order", exact(), sampleOf({ a: 1, b: 2 }, { b: 2, a: 1 }), 1],
    ["contains: the expected text", contains(), sampleOf("It is 42.", "42"), 1],
    ["contains: half of the texts", contains({ texts: ["one", "two"] }), sampleOf("one"), 0.5],
    [
      "contains: texts of the sample",
      contains({ texts: ({ input }) => [String(input)] }),
      sampleOf("q"),
      1,
    ],
    ["pattern: a match", pattern(/\d{3}-\d{4}/i), sampleOf("call 555-1234"), 1],
    ["pattern: none", pattern(/^x/), sampleOf("ax"), 0],
    ["jsonDifference: equal", jsonDifference(), sampleOf('{"a":[1,2]}', { a: [1, 2] }), 1],
    [
      "jsonDifference: a third differs",
      jsonDifference(),
      sampleOf({ a: 1, b: [2, 4] }, { a: 1, b: [2, 3] }),
      2 / 3,
    ],
    ["jsonDifference: other forms", jsonDifference(), sampleOf("text", { a: 1 }), 0],
    [
      "jsonDifference: what is not expected counts",
      jsonDifference(),
      sampleOf({ a: 1, b: 2 }, { a: 1 }),
      0.5,
    ],
    [
      "numericTolerance: absolute",
      numericTolerance({ absolute: 0.1 }),
      sampleOf("about 3.2 or 3.05", 3),
      1,
    ],
    [
      "numericTolerance: relative",
      numericTolerance({ relative: 0.01 }),
      sampleOf("1,230 km", 1233),
      1,
    ],
    ["numericTolerance: too far", numericTolerance({ absolute: 1 }), sampleOf(5, 3), 0],
    ["numericTolerance: no number", numericTolerance(), sampleOf("none", 3), 0],
    [
      "matchesSchema: text of JSON",
      matchesSchema(z.object({ a: z.number() })),
      sampleOf('{"a":1}'),
      1,
    ],
    ["matchesSchema: wrong", matchesSchema(z.object({ a: z.number() })), sampleOf('{"a":"x"}'), 0],
    ["semanticSimilarity: same direction", semanticSimilarity(), sampleOf("four", "five"), 1],
    [
      "semanticSimilarity: opposite",
      semanticSimilarity({
        model: {
          embed: () =>
            Promise.resolve([
              [1, 0],
              [-1, 0],
            ]),
        },
      }),
      sampleOf("a", "b"),
      0,
    ],
    [
      "toolsInOrder: with others between",
      toolsInOrder(["a", "b"]),
      sampleOf("", "", calls("a", "x", "b")),
      1,
    ],
    ["toolsInOrder: reversed", toolsInOrder(["a", "b"]), sampleOf("", "", calls("b", "a")), 0.5],
    [
      "toolCalledWith: the best call",
      toolCalledWith("t", { a: 1, b: 2 }),
      sampleOf("", "", { toolCalls: [call("t", { a: 1, b: 3 }), call("t", { a: 1, b: 2, c: 9 })] }),
      1,
    ],
    [
      "toolCalledWith: half",
      toolCalledWith("t", { a: 1, b: 2 }),
      sampleOf("", "", { toolCalls: [call("t", { a: 1 })] }),
      0.5,
    ],
    ["toolCalledWith: no call", toolCalledWith("t", { a: 1 }), sampleOf(""), 0],
    ["forbidsTools: called", forbidsTools(["rm"]), sampleOf("", "", calls("ls", "rm")), 0],
    ["forbidsTools: not called", forbidsTools(["rm"]), sampleOf("", "", calls("ls")), 1],
    [
      "delegatesTo: a failed one does not count",
      delegatesTo(["A", "B"]),
      sampleOf("", "", {
        delegations: [
          { from: "M", to: "A", task: "", succeeded: true },
          { from: "M", to: "B", task: "", succeeded: false },
        ],
      }),
      0.5,
    ],
    ["constraintsMet: a refusal", constraintsMet(), sampleOf("", "", { refusedDelegations: 1 }), 0],
    ["toolCallsAtMost: twice as many", toolCallsAtMost(1), sampleOf("", "", calls("a", "b")), 0.5],
    [
      "tokensAtMost: within",
      tokensAtMost(10),
      sampleOf("", "", { spending: { ...NO_SPENDING, inputTokens: 6, outputTokens: 4 } }),
      1,
    ],
    [
      "costAtMost: recorded calls count",
      costAtMost(1),
      sampleOf("", "", { spending: { ...NO_SPENDING, recordedCost: 4 } }),
      0.25,
    ],
    ["latencyAtMost: within", latencyAtMost(5), sampleOf(""), 1],
  ];
  for (const [title, of, sample, value] of table)
    it(title, async () => {
      expect(await valueOf(of, sample)).to.be.closeTo(value, 1e-12);
    });

  it("that need prices or durations of real calls do not apply without them", async () => {
    expect(await valueOf(costAtMost(1), sampleOf(""))).to.equal(undefined);
    const recorded = { spending: { ...NO_SPENDING, answered: 1 } };
    expect(await valueOf(latencyAtMost(1), sampleOf("", "", recorded))).to.equal(undefined);
  });

  it("that compare refuse a case without an expected value", async () => {
    const { problems, scores } = await evaluate({
      name: "none",
      target: () => "x",
      dataset: [{ input: 1 }],
      scorers: [exact(), contains(), jsonDifference(), numericTolerance(), semanticSimilarity()],
    });
    expect(scores.map(({ errors }) => errors)).to.deep.equal([1, 1, 1, 1, 1]);
    expect(new Set(problems.map(({ message }) => message))).to.deep.equal(
      new Set(["The case 'case-1' has no expected value"]),
    );
  });

  it("show differences of JSON by their paths", async () => {
    const sample = sampleOf({ rivers: [{ name: "Elbe" }] }, { rivers: [{ name: "Rhine" }, 2] });
    const { reason } = (await jsonDifference()(sample, CONTEXT)) as Score;
    expect(reason).to.equal(
      "$.rivers[0].name: Elbe, expected Rhine; $.rivers[1]: missing, expected 2",
    );
  });

  it("match a pattern in linear time", async () => {
    const of = pattern(/(a+)+b/);
    expect(await valueOf(of, sampleOf("a".repeat(50_000)))).to.equal(0);
  });

  for (const [title, make] of [
    ["a pattern with a look-ahead", () => pattern(/a(?=b)/)],
    ["a misspelt option", () => exact({ ignorCase: true } as object)],
    ["a passAt above 1", () => exact({ passAt: 2 })],
    ["a negative tolerance", () => numericTolerance({ absolute: -1 })],
    ["no names of tools", () => toolsInOrder([])],
    ["a limit that is not a number", () => costAtMost(Number.NaN)],
    ["an invalid schema", () => matchesSchema(7 as never)],
  ] as const)
    it(`refuse ${title}`, async () => {
      const made = Promise.resolve().then(() => make());
      expect(await rejection(made)).to.be.instanceOf(ValidationError);
    });
});
