import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  calibrate,
  constraintsMet,
  Dataset,
  evaluate,
  exact,
  fromAutoevals,
  htmlReport,
  judge,
  pairwise,
  readEvaluation,
  scorer,
  scoreTraces,
  toolCalledWith,
  toolsInOrder,
  type AutoevalsScorer,
  type EvaluationResult,
  type Sample,
  type Scorer,
  type ScorerContext,
  type ScoreValue,
  type TrialWay,
  contains,
  costAtMost,
  jsonDifference,
  latencyAtMost,
  matchesSchema,
  numericTolerance,
  pattern,
  semanticSimilarity,
  tokensAtMost,
} from "agentensemble/evals";
import { Ensemble, Task } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { z } from "zod";
import { TraceTarget } from "../../src/evals/datasets/stored-traces.js";
import { ResponseFile } from "../../src/evals/recordings/response-file.js";
import { NO_SPENDING } from "../../src/evals/way-of-runs.js";
import { rejection } from "../support/rejection.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { resultOf } from "./results.js";

const one = { name: "r", target: (i: unknown) => i, dataset: [{ input: 1, expected: 1 }] };
const CIRCLE: Record<string, unknown> = {};
CIRCLE["self"] = CIRCLE;
const NO_WAY: TrialWay = {
  ...{ runIds: [], toolCalls: [], delegations: [], refusedDelegations: 0, conversations: [] },
  ...{ spending: NO_SPENDING, durationMs: 5 },
};
const CONTEXT: ScorerContext = {
  signal: new AbortController().signal,
  chat: () => Promise.reject(new Error("no model")),
  embed: () => Promise.resolve([[1, 0]]),
};

async function scored(
  of: Scorer<unknown, unknown>,
  output: unknown,
  { expected, way }: { readonly expected?: unknown; readonly way?: Partial<TrialWay> } = {},
): Promise<ScoreValue> {
  const sample: Sample = {
    ...{ case: { id: "c", input: "q", position: 0 }, input: "q", output, expected, trial: 1 },
    way: { ...NO_WAY, ...way },
  };
  return of(sample, CONTEXT);
}

function fileWith(name: string, text: string): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, text);
  return path;
}

function refuses(error: unknown, code: string, message: string): void {
  expect(error).to.include({ code });
  expect((error as Error).message).to.contain(message);
}

describe("evaluate() refuses", () => {
  const wrong: readonly (readonly [string, object, string, string])[] = [
    ["more than 100 trials", { trials: 101 }, "AE_VALIDATION", "at most 100, got: 101"],
    ["a seed of more than 32 bits", { seed: 2 ** 32 }, "AE_VALIDATION", "seed must be at most"],
    ["a blank version", { version: " " }, "AE_VALIDATION", "version must be a text"],
    ["traces with a blank folder", { traces: "" }, "AE_VALIDATION", "traces must be a text"],
    ["a confidence of 1", { confidence: 1 }, "AE_VALIDATION", "confidence must be a number above"],
    [
      "no minimum difference",
      { minDifference: 0 },
      "AE_VALIDATION",
      "minDifference must be a number",
    ],
    ["a scorer that is a text", { scorers: ["exact"] }, "AE_VALIDATION", "must be functions"],
    ["scorers that are not a list", { scorers: exact() }, "AE_VALIDATION", "must be a list"],
    ["a dataset that is a text", { dataset: "cases" }, "AE_VALIDATION", "must be a list of cases"],
    ["no dataset", { dataset: null }, "AE_VALIDATION", "must be a list of cases or a Dataset"],
    ["a case that is a text", { dataset: ["q"] }, "AE_DATASET", "Case 1 must be an object"],
    [
      "a blank id",
      { dataset: [{ id: "", input: 1 }] },
      "AE_DATASET",
      "has an id that is not a text",
    ],
    ["a number as id", { dataset: [{ id: 7, input: 1 }] }, "AE_DATASET", "has an id that is no"],
    ["tags in a text", { dataset: [{ input: 1, tags: "a" }] }, "AE_DATASET", "not a list of texts"],
    [
      "tags of numbers",
      { dataset: [{ input: 1, tags: [1] }] },
      "AE_DATASET",
      "not a list of texts",
    ],
    [
      "metadata in a list",
      { dataset: [{ input: 1, metadata: [] }] },
      "AE_DATASET",
      "metadata that is not an object",
    ],
    [
      "an input that is not JSON",
      { dataset: [{ id: "fn", input: CIRCLE }] },
      "AE_DATASET",
      "Case 'fn' can't be written as JSON",
    ],
    [
      "a named dataset of which nothing is chosen",
      { dataset: Dataset.of([{ input: 1 }], "rivers"), only: { ids: ["x"] } },
      "AE_DATASET",
      "'rivers'",
    ],
  ];
  for (const [what, change, code, message] of wrong)
    it(what, async () => {
      const options = { ...one, scorers: [exact()], ...change };
      refuses(await rejection(evaluate(options as typeof options & typeof one)), code, message);
    });

  it("baselines of another version, and incomplete baselines", async () => {
    const { scores, cases, ...made } = resultOf(1, () => 1);
    const baselines: readonly (readonly [object, string])[] = [
      [{ ...made, scores, cases, version: 2 }, "is an evaluation of version 2"],
      [{ ...made, scores, cases, dataset: {} }, "incomplete"],
      [{ ...made, scores: {}, cases }, "incomplete"],
      [{ ...made, scores, cases: [{ id: 1, trials: [] }] }, "incomplete"],
      [{ ...made, scores, cases: ["c"] }, "incomplete"],
      [{ ...made, scores, cases: [{ id: "c" }] }, "incomplete"],
    ];
    for (const [baseline, message] of baselines) {
      const given = baseline as EvaluationResult;
      const work = evaluate({ ...one, scorers: [exact()], baseline: given });
      refuses(await rejection(work), "AE_BASELINE", message);
    }
  });

  it("values that are not lists, when a dataset is created from them", () => {
    expect(() => Dataset.of("cases" as never)).to.throw("needs a list of cases, got");
  });
});

describe("readEvaluation()", () => {
  it("reads an evaluation, and names a file that contains none", async () => {
    const made = resultOf(1, () => 1);
    const path = fileWith("result.json", JSON.stringify(made));
    expect(await readEvaluation(path)).to.deep.equal(made);
    const none = fileWith("none.json", "[]");
    refuses(await rejection(readEvaluation(none)), "AE_BASELINE", `'${none}' is not an evaluation`);
  });

  const damaged: readonly (readonly [string, object])[] = [
    ["no cases", { cases: undefined }],
    ["a case that is not an object", { cases: [null] }],
    ["a trial that is not an object", { cases: [{ id: "a", trials: [null] }] }],
    ["a trial without scores", { cases: [{ id: "a", trials: [{ trial: 1 }] }] }],
    ...["Infinity", "1", -0.1, 1.1, {}].map(
      (value) =>
        [
          `the score ${JSON.stringify(value)}`,
          { cases: [{ id: "a", trials: [{ trial: 1, scores: { exact: { value } } }] }] },
        ] as const,
    ),
  ];
  for (const [title, change] of damaged)
    it(`refuses an evaluation with ${title}`, async () => {
      const path = fileWith("damaged.json", JSON.stringify({ ...resultOf(1, () => 1), ...change }));
      refuses(await rejection(readEvaluation(path)), "AE_BASELINE", "is an incomplete evaluation");
    });

  it("reads the baseline of a path for evaluate()", async () => {
    const path = join(temporaryFolder(), "before.json");
    const before = await evaluate({ ...one, scorers: [exact()] });
    writeFileSync(path, JSON.stringify(before));
    const after = await evaluate({ ...one, scorers: [exact()], baseline: path });
    expect(after.comparison?.baseline.name).to.equal("r");
  });
});

describe("scorers refuse", () => {
  it("options that can't be used", () => {
    expect(() => toolsInOrder([])).to.throw("toolsInOrder() needs a list of names");
    expect(() => toolsInOrder("a" as never)).to.throw("needs a list of names");
    expect(() => toolsInOrder([1] as never)).to.throw("needs a list of names");
    expect(() => tokensAtMost(-1)).to.throw("tokensAtMost() needs a number >= 0");
    expect(() => tokensAtMost("1" as never)).to.throw("needs a number >= 0");
    expect(() => tokensAtMost(Number.POSITIVE_INFINITY)).to.throw("needs a number >= 0");
    expect(() => pattern("a" as never)).to.throw("pattern() needs a regular expression");
    expect(() => pattern(/a(?=b)/)).to.throw("can't be used");
    expect(() => numericTolerance({ relative: -1 })).to.throw("relative must be a number >= 0");
    expect(() => matchesSchema(null as never)).to.throw("needs a Standard Schema");
    expect(() => matchesSchema("{}" as never)).to.throw("needs a Standard Schema");
    expect(() => matchesSchema({} as never)).to.throw("needs a Standard Schema");
    expect(() => judge({ rubric: "Clear", votes: 16 })).to.throw("votes must be at most 15");
    expect(() => judge({ rubric: "Clear", grades: { good: 1 } })).to.throw("at least two");
    expect(() => judge({ rubric: "Clear", grades: "good" as never })).to.throw("at least two");
    for (const value of [2, -1, "1"])
      expect(() =>
        judge({ rubric: "Clear", grades: { good: 1, bad: value } as Record<string, number> }),
      ).to.throw("judge grades must be numbers from 0 to 1");
    expect(() => judge({ rubric: "Clear", grades: { good: 1, " ": 0 } })).to.throw(
      "grades must be",
    );
  });

  it("cases without the value that they compare", async () => {
    refuses(await rejection(scored(exact(), "a")), "AE_SCORE", "'c' has no expected value");
    const vague = scored(numericTolerance(), "1", { expected: "many" });
    refuses(await rejection(vague), "AE_SCORE", "The expected value is not a number");
    const short = scored(semanticSimilarity(), "a", { expected: "b" });
    refuses(await rejection(short), "AE_SCORE", "no vectors of the same length");
    const model = { embed: () => Promise.resolve([[1], [1, 2]]) } as never;
    const other = scored(semanticSimilarity({ model }), "a", { expected: "b" });
    refuses(await rejection(other), "AE_SCORE", "no vectors of the same length");
  });
});

describe("scorers of edge cases", () => {
  it("do not apply without texts, prices or recorded calls", async () => {
    expect(await scored(contains({ texts: () => [] }), "a")).to.equal(undefined);
    expect(await scored(costAtMost(1), "a")).to.equal(undefined);
    const spending = { ...NO_SPENDING, answered: 1 };
    expect(await scored(latencyAtMost(1), "a", { way: { spending } })).to.equal(undefined);
  });

  it("count paid and recorded costs", async () => {
    const paid = { spending: { ...NO_SPENDING, cost: 2 } };
    expect(await scored(costAtMost(1), "a", { way: paid })).to.include({ value: 0.5 });
    const recorded = { spending: { ...NO_SPENDING, recordedCost: 4 } };
    expect(await scored(costAtMost(1), "a", { way: recorded })).to.include({ value: 0.25 });
  });

  it("compare numbers, empty values and texts that are not JSON", async () => {
    expect(await scored(numericTolerance(), Number.NaN, { expected: 1 })).to.include({
      reason: "The output has no number",
    });
    expect(await scored(jsonDifference(), "a", { expected: "a" })).to.include({ value: 1 });
    expect(await scored(jsonDifference(), { a: 1 }, { expected: '{"a":2}' })).to.include({
      value: 0,
    });
    expect(await scored(matchesSchema(z.number()), "3")).to.equal(1);
    expect(await scored(pattern(/b/), "a")).to.include({ value: 0, reason: "No match of /b/" });
  });

  it("name the missing tools and arguments", async () => {
    expect(await scored(toolsInOrder(["a", "b"]), "")).to.deep.include({
      value: 0,
      reason: "Expected a, b; there were none",
    });
    const call = { ...{ name: "a", result: "", outcome: "SUCCESS", taskId: "t" } };
    const way = {
      toolCalls: [
        { ...call, arguments: undefined },
        { ...call, arguments: { x: 1, y: 3, z: 4 } },
      ],
    };
    expect(await scored(toolCalledWith("a", { x: 1, y: 2 }), "", { way })).to.include({
      value: 0.5,
    });
    expect(
      await scored(
        toolCalledWith("a", () => ({ x: 1 })),
        "",
        { way },
      ),
    ).to.include({
      value: 1,
    });
    expect(await scored(toolsInOrder(["b", "a"]), "", { way })).to.include({
      reason: "Expected b, a; there were a, a",
    });
    const refused = await scored(constraintsMet(), "", { way: { refusedDelegations: 2 } });
    expect(refused).to.include({ reason: "2 delegations were refused" });
  });
});

describe("a scorer of autoevals", () => {
  const gives = (found: object): Scorer<unknown, unknown> =>
    fromAutoevals((() => found) as unknown as AutoevalsScorer);

  it("reports an error with its reason, or a default reason, if there is no score", async () => {
    const failed = scored(gives({ score: null, metadata: { error: "no key" } }), "a");
    refuses(await rejection(failed), "AE_SCORE", "no key");
    refuses(await rejection(scored(gives({}), "a")), "AE_SCORE", "It returned no score");
  });

  it("has the rationale as reason, and a name if the function has none", async () => {
    const metadata = { rationale: "close" };
    expect(await scored(gives({ score: 0.5, metadata }), { a: 1 }, { expected: 2 })).to.deep.equal({
      ...{ value: 0.5, reason: "close", evidence: metadata },
    });
    expect(await scored(gives({ score: 1 }), "a")).to.deep.equal({ value: 1 });
    expect(gives({ score: 1 }).name).to.equal("autoevals");
  });
});

describe("datasets of stored traces", () => {
  const call = { inputTokens: 3, outputTokens: -1, messages: [], toolCalls: [] };
  const task = {
    ...{ taskId: "t", finalOutput: "the answer", toolCalls: [], delegations: [] },
    llmInteractions: [call],
  };
  const stored = {
    ...{ ensembleId: "run-1", exitReason: "COMPLETED", inputs: { q: 1 } },
    ...{ startedAt: "2026-01-01T00:00:00.000Z", completedAt: "2026-01-01T00:00:01.000Z" },
    taskTraces: [task],
  };
  const folderWith = (files: Readonly<Record<string, unknown>>): string => {
    const folder = join(temporaryFolder(), "traces");
    mkdirSync(folder);
    for (const [name, value] of Object.entries(files))
      writeFileSync(join(folder, name), typeof value === "string" ? value : JSON.stringify(value));
    return folder;
  };
  const seen = scorer("seen", ({ way: { spending } }) => ({ value: 1, evidence: spending }));

  it("score files of a folder that have no tags, inputs and costs", async () => {
    const worker = { ...task, llmInteractions: [{ ...call, cost: 0.5 }] };
    const delegations = [{ workerTrace: worker }, { workerTrace: null }, {}];
    const traces = folderWith({
      "a.trace.json": stored,
      "b.trace.json": {
        ...stored,
        ...{ ensembleId: "run-2", inputs: null, metadata: { tags: { team: "x" } } },
        taskTraces: [{ ...task, delegations }],
      },
      "c.trace.json": { ...stored, ensembleId: "run-3", exitReason: "ERROR" },
      "d.trace.json": { ...stored, ensembleId: "run-4", taskTraces: [] },
      "notes.txt": "no trace",
    });
    const { cases } = await scoreTraces({ name: "s", traces, scorers: [seen] });
    expect(cases.map(({ id, input, tags }) => ({ id, input, tags }))).to.deep.equal([
      { id: "run-1", input: { q: 1 }, tags: [] },
      { id: "run-2", input: {}, tags: ["team=x"] },
    ]);
    const spent = cases.map(({ trials }) => trials[0]?.scores["seen"]?.evidence);
    expect(spent).to.deep.equal([
      { calls: 1, answered: 0, inputTokens: 3, outputTokens: 0 },
      { calls: 2, answered: 0, inputTokens: 6, outputTokens: 0, cost: 0.5 },
    ]);
  });

  it("derive cases, expected values and tags with functions", async () => {
    const { cases } = await scoreTraces<string, string>({
      ...{ name: "s", traces: [{ ...stored, taskTraces: [] } as never], scorers: [seen] },
      where: () => true,
      input: ({ runId }) => `input of ${runId}`,
      expected: () => undefined,
      tags: ({ exitReason }) => [exitReason],
    });
    expect(cases[0]).to.deep.include({ input: "input of run-1", tags: ["COMPLETED"] });
    expect(cases[0]).to.not.have.property("expected");
    expect(cases[0]?.trials[0]?.output).to.equal("");
  });

  it("name files that are not traces, and missing folders", async () => {
    const read = (traces: string | readonly string[]): Promise<unknown> =>
      rejection(scoreTraces({ name: "s", traces, scorers: [seen] }));
    refuses(await read(folderWith({ "a.trace.json": "{" })), "AE_FILE_FORMAT", "is not a trace");
    refuses(await read([fileWith("x.json", "[]")]), "AE_FILE_FORMAT", "it has no taskTraces");
    refuses(await read([fileWith("x.json", "{}")]), "AE_FILE_FORMAT", "it has no taskTraces");
    refuses(await read("/nowhere/traces"), "AE_VALIDATION", "Can't read the folder of traces");
  });
});

describe("judges with edge cases", () => {
  it("receive no expected value if that is disabled, and may omit the reason", async () => {
    const model = new ScriptedModel(['{"grade": "bad"}', "", " "]);
    const strict = judge({ rubric: "Clear", model, showExpected: false });
    const result = await evaluate({ ...one, scorers: [strict] });
    expect(result.cases[0]?.trials[0]?.scores["judge"]).to.include({ value: 0, reason: "" });
    expect(JSON.stringify(model.requests[0]?.messages)).to.not.contain("<expected");
    const silent = await evaluate({ ...one, scorers: [strict] });
    expect(silent.problems[0]?.message).to.contain("The judge returned no grade: (nothing)");
  });

  it("are calibrated with labels only", async () => {
    const samples = [{ input: 1, output: 1, label: 2 }];
    const wrong = calibrate({ scorer: exact(), samples: samples });
    refuses(await rejection(wrong), "AE_VALIDATION", "samples[0] label must be true, false or");
    const none = calibrate({ scorer: exact() } as never);
    refuses(await rejection(none), "AE_VALIDATION", "calibrate() samples");
  });
});

describe("a file of responses", () => {
  const user = {};

  it("keeps the first response of a key, and returns none after it was closed", async () => {
    const path = join(temporaryFolder(), "responses.jsonl");
    const file = new ResponseFile(path);
    await file.open(user);
    file.add("k", { message: { content: "one" } } as never);
    file.add("k", { message: { content: "two" } } as never);
    await file.flush();
    expect(await file.get("k")).to.deep.equal({ message: { content: "one" } });
    expect(await file.get("other")).to.equal(undefined);
    await file.close({});
    expect(file.has("k")).to.equal(true);
    writeFileSync(path, readFileSync(path, "utf8").replace('"k"', '"x"'));
    expect(await file.get("k")).to.equal(undefined);
    await file.close(user);
    expect(file.has("k")).to.equal(false);
    expect(await file.get("k")).to.equal(undefined);
  });

  const header = '{"format":"agentensemble-responses","version":1}\n';
  const malformed: readonly (readonly [string, string])[] = [
    ["{}\n", "it has no recordings of evaluations"],
    [header.replace("1", "2"), "or those of another version"],
    [`${header}{"key":1}\n`, "line 2 is not a response"],
    [`${header}no JSON\n`, "line 2 is not a response"],
  ];
  for (const [text, message] of malformed)
    it(`is refused if ${message}: ${JSON.stringify(text.slice(-12))}`, async () => {
      const file = new ResponseFile(fileWith("responses.jsonl", text));
      refuses(await rejection(file.open(user)), "AE_FILE_FORMAT", message);
    });

  it("is refused at a path that can't be written", async () => {
    const file = new ResponseFile(temporaryFolder());
    refuses(await rejection(file.open(user)), "AE_VALIDATION", "can't be opened");
  });
});

describe("a missing part", () => {
  it("is refused if a function is required", () => {
    expect(() => fromAutoevals(undefined as never)).to.throw("fromAutoevals() scorer");
    expect(() => scorer("empty", undefined as never)).to.throw("The scorer 'empty'");
  });

  it("is named: the other candidate of a comparison, and the trace of a case", async () => {
    const alone = pairwise({ rubric: "Clear" });
    refuses(await rejection(scored(alone, "a")), "AE_SCORE", "neither a baseline nor an expected");
    const request = { case: { id: "untraced", input: 1, position: 0 } } as never;
    expect(() => new TraceTarget().perform(request, undefined as never)).to.throw(
      "The case 'untraced' is of no stored trace",
    );
  });

  it("is named: a task that the ensemble of the target does not have", async () => {
    const model = new ScriptedModel(() => "answer");
    await using ensemble = new Ensemble({ model, tasks: [Task.of("Say it")] });
    const dataset = [{ input: {} }];
    const options = { name: "t", dataset, scorers: [scorer("any", () => 1)] };
    const other = { ensemble, task: Task.of("Another") };
    const { problems } = await evaluate({ ...options, target: other });
    expect(problems[0]?.message).to.contain("no output of the task 'Another'");
    const none = { ...options, target: { ensemble, task: "Say it" } } as never;
    refuses(await rejection(evaluate(none)), "AE_VALIDATION", "needs an ensemble and one of its");
  });

  it("is empty in JSON and in differences", async () => {
    expect(await scored(jsonDifference(), [], { expected: [] })).to.deep.equal({ value: 1 });
    expect(await scored(jsonDifference(), {}, { expected: {} })).to.deep.equal({ value: 1 });
    expect(await scored(jsonDifference(), { a: 1, b: 2 }, { expected: { a: 1 } })).to.include({
      ...{ value: 0.5, reason: "$.b: not expected: 2" },
    });
    const output = new Map<string, unknown>([["river", "Rhine"]]);
    const cases = resultOf(1, () => 0).cases.map((made) => ({
      ...made,
      input: undefined,
      trials: made.trials.map((trial) => ({ ...trial, output })),
    }));
    const page = await htmlReport({ ...resultOf(1, () => 0), cases });
    expect(page).to.contain("<h3>Input</h3><pre></pre>");
    expect(page).to.contain("river&#34;: &#34;Rhine");
  });

  it("does not stop a calibration: samples without a score, and scores without a reason", async () => {
    const samples = [
      { input: 1, output: 1, label: true },
      { input: 2, output: 2, label: true },
    ];
    const picky = scorer("picky", ({ output }) => {
      if (output === 1) throw new Error("no score");
      return 0;
    });
    const found = await calibrate({ scorer: picky, samples });
    expect(found).to.deep.include({ samples: 1, falseNegatives: 1, recall: 0 });
    expect(found.disagreements).to.deep.equal([{ id: "case-2", label: 1, score: 0 }]);
    expect(found.problems.length).to.equal(1);
  });

  it("ends an evaluation if its traces can't be saved", async () => {
    const model = new ScriptedModel(() => "answer");
    await using target = new Ensemble({ model, tasks: [Task.of("Say it")] });
    const options = { name: "t", target, dataset: [{ input: {}, expected: "answer" }] };
    const traces = join(fileWith("file", ""), "traces");
    const error = await rejection(evaluate({ ...options, scorers: [exact()], traces }));
    expect((error as Error).message).to.contain(traces);
  });

  it("is requested once more if a judge's answer only resembles JSON", async () => {
    const model = new ScriptedModel(["{grade: good}", '} {"grade": "fair"']);
    const result = await evaluate({ ...one, scorers: [judge({ rubric: "Clear", model })] });
    expect(result.problems[0]?.message).to.contain("The judge returned no grade");
    expect(model.requests.length).to.equal(2);
  });
});
