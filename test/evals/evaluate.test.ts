import { Agent, Conversation, Ensemble, MapReduceEnsemble, Task, tool } from "agentensemble";
import { contains, evaluate, exact, scorer, type EvaluationResult } from "agentensemble/evals";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { z } from "zod";
import { rejection } from "../support/rejection.js";
import { pause } from "../support/time.js";

const always = (value: number): ReturnType<typeof scorer> => scorer("always", () => value);

describe("evaluate()", () => {
  it("scores the final text of an ensemble", async () => {
    const model = new ScriptedModel(({ messages }) =>
      JSON.stringify(messages.at(-1)).includes("Rhine") ? "1,230 km" : "unknown",
    );
    await using team = new Ensemble({ model, tasks: [Task.of("How long is the {river}?")] });
    const result = await evaluate({
      name: "rivers",
      target: team,
      dataset: [
        { id: "rhine", input: { river: "Rhine" }, expected: "1,230 km" },
        { id: "elbe", input: { river: "Elbe" }, expected: "1,094 km" },
      ],
      scorers: [exact()],
    });
    expect(result.scores[0]).to.include({ scorer: "exact", mean: 0.5, cases: 2, errors: 0 });
    expect(result.cases.map(({ id }) => id)).to.deep.equal(["rhine", "elbe"]);
    expect(result.cases[1]?.trials[0]?.output).to.equal("unknown");
    expect(result.spending.target.calls).to.equal(2);
    expect(result.status).to.equal("complete");
  });

  it("scores the value of a task, with the model of the evaluation", async () => {
    const task = new Task({ description: "Rate {x}", outputType: z.object({ stars: z.number() }) });
    const result = await evaluate({
      name: "stars",
      target: task,
      model:
        new ScriptedModel([], { onExhausted: "throw" }) && new ScriptedModel(() => '{"stars":4}'),
      dataset: [{ input: { x: 1 }, expected: { stars: 4 } }],
      scorers: [
        scorer("near", ({ output }: { output: { stars: number } }) => output.stars === 4),
        exact(),
      ],
    });
    expect(result.scores.map(({ mean }) => mean)).to.deep.equal([1, 1]);
  });

  it("scores the value of one task of an ensemble", async () => {
    const number = new Task({ name: "number", description: "n", handler: () => 42 });
    const text = new Task({ description: "t", context: [number], handler: () => "text" });
    await using ensemble = new Ensemble({ tasks: [number, text] });
    const result = await evaluate({
      name: "number",
      target: { ensemble, task: number },
      dataset: [{ input: {}, expected: 42 }],
      scorers: [exact()],
    });
    expect(result.cases[0]?.trials[0]?.output).to.equal(42);
    expect(result.scores[0]?.mean).to.equal(1);
  });

  it("scores the value of a map-reduce", async () => {
    const target = new MapReduceEnsemble({
      items: [1, 2, 3],
      mapTask: (n) => new Task({ description: `n ${n}`, handler: () => n }),
      reduceTask: (tasks) =>
        new Task({
          description: "sum",
          context: tasks,
          handler: ({ contextOutputs }) =>
            contextOutputs.reduce((sum, { parsed }) => sum + Number(parsed), 0),
        }),
    });
    const result = await evaluate({
      name: "sum",
      target,
      dataset: [{ input: {}, expected: 6 }],
      scorers: [exact()],
    });
    await target.dispose();
    expect(result.scores[0]?.mean).to.equal(1);
  });

  it("sends the messages of a case to a new thread of a conversation", async () => {
    const seen: number[] = [];
    const model = new ScriptedModel(({ messages }) => {
      seen.push(messages.filter(({ role }) => role === "user").length);
      const last = messages.at(-1)?.content;
      return `answer to ${typeof last === "string" ? last : ""}`;
    });
    const agent = new Agent({ role: "Helper", goal: "Help" });
    await using chat = new Conversation({ agent, model });
    const result = await evaluate({
      name: "chat",
      target: chat,
      dataset: [{ input: ["one", "two"], expected: "answer to two" }, { input: "three" }],
      scorers: [contains({ texts: ["answer"] })],
      trials: 2,
      concurrency: 1,
    });
    expect(seen).to.deep.equal([1, 2, 1, 2, 1, 1]);
    expect(result.cases[0]?.trials[1]?.output).to.equal("answer to two");
    expect(result.cases[0]?.trials[0]?.way.runIds.length).to.equal(2);
    expect((await chat.threads()).threads).to.deep.equal([]);
  });

  it("simulates the user of a conversation with a model, and counts its calls separately", async () => {
    const user = new ScriptedModel([
      '{"message": "I want a refund", "done": false}',
      'Sure: {"message": "Order 17", "done": false}',
      '{"message": "", "done": true}',
    ]);
    const agent = new Agent({ role: "Desk", goal: "Help" });
    const model = new ScriptedModel(["Which order?", "Refunded."]);
    await using chat = new Conversation({ agent, model });
    const result = await evaluate({
      name: "refunds",
      target: chat,
      model: user,
      dataset: [{ input: { goal: "a refund for order 17" } }],
      scorers: [contains({ texts: ["Refunded"] })],
    });
    expect(result.scores[0]?.mean, JSON.stringify(result.problems)).to.equal(1);
    expect(result.spending.target.calls).to.equal(2);
    expect(result.spending.judges.calls).to.equal(3);
    expect(model.requests[1]?.messages.map(({ content }) => content)).to.include("Order 17");
  });

  it("reports a function's runs of ensembles as its way", async () => {
    const add = tool({ name: "add", description: "Adds", execute: () => "3" });
    const model = new ScriptedModel([
      { toolCalls: [{ name: "add", arguments: { input: "1+2" } }] },
      "3",
    ]);
    const agent = new Agent({ role: "Clerk", goal: "Add", tools: [add] });
    await using team = new Ensemble({ model, tasks: [new Task({ description: "Add", agent })] });
    const result = await evaluate({
      name: "sum",
      target: async (_n: number, context) => Number((await context.run(team)).raw),
      dataset: [{ input: 1, expected: 3 }],
      scorers: [exact(), scorer("way", ({ way }) => way.toolCalls[0]?.name === "add")],
    });
    expect(result.scores.map(({ mean }) => mean)).to.deep.equal([1, 1]);
    expect(result.spending.target.calls).to.equal(2);
    expect(result.cases[0]?.trials[0]?.way.toolCalls[0]?.arguments).to.deep.equal({ input: "1+2" });
  });

  it("returns 1 for a target that copies the expected value, and less for a copy of another case's value", async () => {
    const words = Array.from({ length: 30 }, (_, i) => `word ${i}`);
    const dataset = words.map((word, i) => ({ input: i, expected: word }));
    const of = (shift: number): Promise<EvaluationResult> =>
      evaluate({
        name: "copy",
        target: (i: number) => words[(i + shift) % words.length] as string,
        dataset,
        scorers: [exact(), contains()],
        trials: 2,
      });
    expect((await of(0)).scores.map(({ mean }) => mean)).to.deep.equal([1, 1]);
    const shifted = await of(1);
    expect(shifted.scores[0]?.mean).to.equal(0);
    expect(shifted.scores[1]?.mean).to.be.lessThan(0.5);
  });

  it("yields the same figures in repeated evaluations, in any order of the trials", async () => {
    const of = async (concurrency: number): Promise<unknown> => {
      const result = await evaluate({
        name: "repeat",
        target: async (i: number) => {
          await pause(concurrency > 1 ? (i * 7) % 5 : 0);
          return i % 3;
        },
        dataset: Array.from({ length: 20 }, (_, i) => ({ input: i })),
        scorers: [scorer("third", ({ output }) => Number(output) / 2)],
        trials: 2,
        concurrency,
      });
      return [result.scores, result.cases.map(({ id }) => id), result.dataset.hash];
    };
    expect(await of(1)).to.deep.equal(await of(8));
  });

  it("reports pass@k and pass^k over its trials", async () => {
    let n = 0;
    const result = await evaluate({
      name: "chance",
      target: () => n++ % 3 === 0,
      dataset: [{ input: 1, expected: true }],
      scorers: [exact()],
      trials: 3,
      concurrency: 1,
    });
    const [summary] = result.scores;
    expect(summary?.passAtK.map((p) => Math.round(p * 1e6))).to.deep.equal([333333, 666667, 1e6]);
    expect(summary?.passHatK.map((p) => Math.round(p * 1e6))).to.deep.equal([333333, 0, 0]);
  });

  it("evaluates the selected cases only", async () => {
    const dataset = Array.from({ length: 20 }, (_, i) => ({
      id: `c${i}`,
      input: i,
      tags: [i % 2 === 0 ? "even" : "odd"],
    }));
    const of = async (only: object, seed = 1): Promise<readonly string[]> => {
      const options = { name: "some", target: (i: number) => i, dataset, scorers: [always(1)] };
      return (await evaluate({ ...options, only, seed })).cases.map(({ id }) => id);
    };
    expect(await of({ ids: ["c3", "c5"] })).to.deep.equal(["c3", "c5"]);
    expect((await of({ tags: ["odd"] })).length).to.equal(10);
    const drawn = await of({ sample: 5 });
    expect(drawn.length).to.equal(5);
    expect(await of({ sample: 5 })).to.deep.equal(drawn);
    expect(await of({ sample: 5 }, 2)).to.not.deep.equal(drawn);
  });
});

describe("errors of an evaluation", () => {
  const one = { name: "e", target: (i: number) => i, dataset: [{ input: 1 }] };

  it("of a scorer that throws, hangs, or returns no value from 0 to 1 do not count as zero", async () => {
    const result = await evaluate({
      ...one,
      scorers: [
        scorer("throws", () => {
          throw new Error("no luck");
        }),
        scorer("hangs", () => new Promise<number>(() => undefined)),
        scorer("nan", () => Number.NaN),
        scorer("large", () => 7),
        always(0.5),
      ],
      scorerTimeoutMs: 20,
    });
    const kinds = result.problems.map(({ scorer: name, kind }) => `${name}: ${kind}`).sort();
    expect(kinds).to.deep.equal([
      "hangs: timeout",
      "large: out-of-range",
      "nan: not-a-number",
      "throws: score",
    ]);
    expect(result.scores.map(({ mean, errors }) => [mean, errors])).to.deep.equal([
      ...[
        [undefined, 1],
        [undefined, 1],
        [undefined, 1],
        [undefined, 1],
      ],
      [0.5, 0],
    ]);
    expect(result.cases[0]?.trials[0]?.scores["throws"]?.error).to.equal("no luck");
  });

  it("abort the signal of a scorer at its time limit, but not after its end", async () => {
    const signals = new Map<string, AbortSignal>();
    const kept = (name: string, score: () => number | Promise<number>): ReturnType<typeof scorer> =>
      scorer(name, (_sample, context) => {
        signals.set(name, context.signal);
        return score();
      });
    const result = await evaluate({
      ...one,
      scorers: [kept("hangs", () => new Promise(() => undefined)), kept("ends", async () => 1)],
      scorerTimeoutMs: 20,
    });
    expect(result.problems.map(({ kind, scorer: name }) => [kind, name])).to.deep.equal([
      ["timeout", "hangs"],
    ]);
    expect(signals.get("hangs")?.aborted).to.equal(true);
    expect(signals.get("ends")?.aborted).to.equal(false);
  });

  it("abort the signal of a scorer with the evaluation", async () => {
    const end = new AbortController();
    let reason: unknown;
    const waiting = scorer(
      "waits",
      (_sample, { signal }) =>
        new Promise<number>((resolve) => {
          signal.addEventListener("abort", () => {
            reason = signal.reason;
            resolve(1);
          });
          end.abort(new Error("enough"));
        }),
    );
    const result = await evaluate({ ...one, scorers: [waiting], signal: end.signal });
    expect(result.status).to.equal("cancelled");
    expect(result.scores[0]?.scores).to.equal(0);
    expect(reason).to.have.property("message", "enough");
  });

  it("of a target yield no scores, or zeros on request", async () => {
    const target = (i: number): number => {
      if (i === 1) throw new Error("broken");
      return i;
    };
    const dataset = [{ input: 1 }, { input: 2 }];
    const options = { name: "t", target, dataset, scorers: [always(1)] };
    const left = await evaluate(options);
    expect(left.scores[0]).to.include({ mean: 1, cases: 1 });
    expect(left.problems[0]).to.include({ kind: "target", caseId: "case-1", message: "broken" });
    const zero = await evaluate({ ...options, onTargetError: "zero" });
    expect(zero.scores[0]).to.include({ mean: 0.5, cases: 2 });
  });

  it("of a target that does not end occur at the time limit", async () => {
    const result = await evaluate({
      ...one,
      target: () => new Promise<number>(() => undefined),
      scorers: [always(1)],
      timeoutMs: 20,
    });
    expect(result.problems[0]).to.include({ kind: "target", code: "AE_TASK_TIMEOUT" });
  });

  it("skip a scorer that does not apply", async () => {
    const result = await evaluate({ ...one, scorers: [scorer("no", () => undefined)] });
    expect(result.scores[0]).to.include({ skipped: 1, errors: 0, cases: 0 });
  });

  it("end a cancelled evaluation with the finished results", async () => {
    const end = new AbortController();
    const result = await evaluate({
      name: "cancelled",
      target: async (i: number) => {
        if (i === 2) end.abort(new Error("enough"));
        await pause();
        return i;
      },
      dataset: [0, 1, 2, 3, 4].map((input) => ({ input })),
      scorers: [always(1)],
      concurrency: 1,
      signal: end.signal,
    });
    expect(result.status).to.equal("cancelled");
    expect(result.scores[0]?.cases).to.equal(2);
    expect(result.problems.map(({ kind }) => kind)).to.deep.equal(["cancelled"]);
  });

  const refused: readonly (readonly [string, object, string, RegExp])[] = [
    ["an empty dataset", { dataset: [] }, "AE_DATASET", /has no case/],
    [
      "two cases with one id",
      {
        dataset: [
          { id: "a", input: 1 },
          { id: "a", input: 2 },
        ],
      },
      "AE_DATASET",
      /Two cases have the id 'a'/,
    ],
    [
      "a case with a misspelt field",
      { dataset: [{ input: 1, expectd: 2 }] },
      "AE_DATASET",
      /unknown field 'expectd'. Did you mean 'expected'/,
    ],
    ["a case without an input", { dataset: [{ id: "a" }] }, "AE_DATASET", /Case 1 has no input/],
    ["a choice that matches nothing", { only: { tags: ["x"] } }, "AE_DATASET", /matches `only`/],
    [
      "scorers with one name",
      { scorers: [always(1), always(1)] },
      "AE_VALIDATION",
      /two with the name 'always'/,
    ],
    ["no scorer", { scorers: [] }, "AE_VALIDATION", /at least one/],
    ["a function without a name", { scorers: [() => 1] }, "AE_VALIDATION", /without a name/],
    ["an unknown option", { trails: 3 }, "AE_VALIDATION", /Did you mean 'trials'/],
    ["0 trials", { trials: 0 }, "AE_VALIDATION", /trials must be >= 1/],
    [
      "a cost without prices",
      { budget: { maxCost: 1 } },
      "AE_VALIDATION",
      /needs costConfiguration/,
    ],
    ["no target", { target: 7 }, "AE_VALIDATION", /target must be/],
    ["an invalid baseline", { baseline: { name: "x" } }, "AE_BASELINE", /is not an evaluation/],
    ["a missing baseline", { baseline: "/nowhere.json" }, "AE_BASELINE", /Can't read/],
  ];
  for (const [what, change, code, message] of refused)
    it(`refuse ${what} before anything is run`, async () => {
      let runs = 0;
      const target = (): number => ++runs;
      const options = { ...one, target, scorers: [always(1)], ...change };
      const error = await rejection(evaluate(options));
      expect(error).to.include({ code });
      expect((error as Error).message).to.match(message);
      expect(runs).to.equal(0);
    });

  it("refuse a baseline of another version of the dataset", async () => {
    const baseline = await evaluate({ ...one, scorers: [always(1)] });
    const changed = { ...one, dataset: [{ input: 2 }], scorers: [always(1)], baseline };
    const error = await rejection(evaluate(changed));
    expect(error).to.include({ code: "AE_BASELINE" });
    const same = await evaluate({ ...one, scorers: [always(1)], baseline });
    expect(same.comparison?.verdict).to.equal("not enough data");
  });

  it("compare the unchanged cases with such a baseline if requested", async () => {
    const dataset = [1, 2, 3, 4, 5, 6, 7].map((n) => ({ id: `c${n}`, input: n }));
    const wrong = scorer("low", ({ input }) => (input === 99 ? 0 : 1));
    const options = { name: "e", target: (n: number) => n, scorers: [wrong] };
    const baseline = await evaluate({ ...options, dataset });
    const changed = [
      { id: "c1", input: 99 },
      ...dataset.slice(2),
      { id: "c8", input: 99 },
      { id: "c9", input: 9 },
    ];
    const { comparison, scores } = await evaluate({
      ...options,
      dataset: changed,
      baseline,
      onDatasetChange: "compare",
    });
    expect(comparison?.datasetChanges).to.deep.equal({
      hash: baseline.dataset.hash,
      added: ["c8", "c9"],
      removed: ["c2"],
      changed: ["c1"],
    });
    expect(comparison?.scorers[0]).to.include({ pairs: 5, difference: 0 });
    expect(scores[0]?.mean).to.equal(6 / 8);
    const cut = { ...baseline, cases: baseline.cases.slice(1) };
    const given = { ...options, dataset: changed, onDatasetChange: "compare" as const };
    const error = await rejection(evaluate({ ...given, baseline: cut }));
    expect(error).to.include({ code: "AE_BASELINE" });
  });

  it("name the cases that differ from those of the baseline", async () => {
    const named = (ids: string, input = 1): { readonly id: string; readonly input: number }[] =>
      [...ids].map((id) => ({ id, input }));
    const options = { ...one, scorers: [always(1)] };
    const baseline = await evaluate({ ...options, dataset: named("abcde") });
    const messageFor = async (dataset: object[], kept: object = baseline): Promise<string> => {
      const error = await rejection(evaluate({ ...options, dataset, baseline: kept } as never)); // cases of any kind
      expect(error).to.include({ code: "AE_BASELINE" });
      return (error as Error).message;
    };
    expect(await messageFor([...named("a"), ...named("bxyzw", 2)])).to.match(
      /; 4 added \(x, y, z, \.\.\.\), 3 removed \(c, d, e\), 1 changed \(b\)$/,
    );
    expect(await messageFor(named("edcba"))).to.match(/; order or metadata of the cases changed$/);
    const partly = { ...baseline, cases: baseline.cases.slice(1) };
    expect(await messageFor(named("abcd"), partly)).to.match(/dataset is [0-9a-f]{12}$/);
  });
});
