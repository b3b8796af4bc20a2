import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, BudgetExceededError, Conversation, Ensemble, Task } from "agentensemble";
import { durable } from "agentensemble/durability";
import {
  type CaseSelection,
  Dataset,
  evaluate,
  exact,
  judge,
  scorer,
  scoreTraces,
  type EvaluationResult,
} from "agentensemble/evals";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { rejection } from "../support/rejection.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const one = { name: "forms", target: (i: unknown) => i, dataset: [{ input: 1, expected: 1 }] };
const RATES = { inputTokenRate: 1e-6, outputTokenRate: 2e-6 };

function refuses(error: unknown, code: string, message: string): void {
  expect(error).to.include({ code });
  expect((error as Error).message).to.contain(message);
}

describe("an evaluation of an ensemble", () => {
  const team = (): Ensemble =>
    new Ensemble({ model: new ScriptedModel(() => "answer"), tasks: [Task.of("Say {n}")] });
  const dataset = [{ input: { n: 1 }, expected: "answer" }];

  it("saves traces, which can be scored again, and links them", async () => {
    const traces = join(temporaryFolder(), "traces");
    await using target = team();
    const options = { name: "saved", target, dataset, scorers: [exact()], traces, version: "1" };
    const { cases } = await evaluate(options);
    const [file] = readdirSync(traces);
    expect(cases[0]?.trials[0]?.trace).to.equal(join(traces, String(file)));
    const again = await scoreTraces({ name: "again", traces, scorers: [exact()] });
    expect(again.scores[0]).to.include({ mean: 1, cases: 1 });
  });

  it("has no trace if a target starts no run", async () => {
    const traces = join(temporaryFolder(), "traces");
    const { cases } = await evaluate({ ...one, scorers: [exact()], traces });
    expect(cases[0]?.trials[0]).to.not.have.property("trace");
  });

  it("names an input that the target does not accept, as an error of the target", async () => {
    await using target = team();
    const missing = [{ input: {}, expected: "answer" }];
    const result = await evaluate({ name: "m", target, dataset: missing, scorers: [exact()] });
    expect(result.problems[0]).to.include({ kind: "target", code: "AE_PROMPT_TEMPLATE" });
    expect(result.problems[0]?.message).to.contain("n");
  });
});

describe("an evaluation that ends early", () => {
  it("continues with the same runs if other cases are selected", async () => {
    const model = new ScriptedModel(() => "answer");
    const url = `file:${temporaryFolder()}`;
    await using target = new Ensemble({
      model,
      tasks: [Task.of("Say {n}")],
      plugins: [durable({ url })],
    });
    const dataset = ["a", "b", "c"].map((id, n) => ({ id, input: { n }, expected: "answer" }));
    const of = async (only?: CaseSelection): Promise<number> => {
      const { problems } = await evaluate({
        ...{ name: "selected", target, dataset, scorers: [exact()] },
        ...(only !== undefined && { only }),
      });
      expect(problems).to.deep.equal([]);
      return model.requests.length;
    };
    expect(await of({ ids: ["b"] })).to.equal(1);
    expect(await of({ ids: ["b", "c"] })).to.equal(2);
    expect(await of()).to.equal(3);
    expect(await of({ ids: ["c"] })).to.equal(3);
  });

  const cancelled = async (change: object, abort: AbortController): Promise<EvaluationResult> =>
    evaluate({ ...one, scorers: [exact()], signal: abort.signal, ...change });

  it("is cancelled while scorers work", async () => {
    const abort = new AbortController();
    const slow = scorer("slow", () => {
      abort.abort();
      return new Promise<number>(() => undefined);
    });
    const result = await cancelled({ scorers: [slow] }, abort);
    expect(result.status).to.equal("cancelled");
    expect(result.cases).to.deep.equal([]);
  });

  it("is cancelled while the target works", async () => {
    const abort = new AbortController();
    const target = (): Promise<never> => {
      abort.abort();
      return new Promise(() => undefined);
    };
    expect((await cancelled({ target }, abort)).status).to.equal("cancelled");
  });

  it("is incomplete if the target used up a budget, and reports a score above it as a problem", async () => {
    const over = new BudgetExceededError("Too much", { limit: "maxTokens" } as never);
    const budget = { maxTokens: 1_000 };
    const target = (): never => {
      throw over;
    };
    const incomplete = await evaluate({ ...one, target, scorers: [exact()], budget });
    expect(incomplete.status).to.equal("incomplete");
    const dear = scorer("dear", () => {
      throw over;
    });
    const { problems } = await evaluate({ ...one, scorers: [dear], budget });
    expect(problems[0]).to.include({ kind: "budget", code: "AE_BUDGET_EXCEEDED", scorer: "dear" });
  });

  it("rejects with the error of a progress listener", async () => {
    const onProgress = (): never => {
      throw new Error("no terminal");
    };
    const error = await rejection(evaluate({ ...one, scorers: [exact()], onProgress }));
    expect((error as Error).message).to.contain("no terminal");
    const budget = { maxTokens: 10 };
    const within = await rejection(evaluate({ ...one, scorers: [exact()], onProgress, budget }));
    expect((within as Error).message).to.contain("no terminal");
  });
});

describe("a failed target", () => {
  it("scores zero if requested", async () => {
    const target = (): never => {
      throw new Error("It broke");
    };
    const options = { ...one, target, scorers: [exact()], onTargetError: "zero" as const };
    const result = await evaluate(options);
    expect(result.scores[0]).to.include({ mean: 0, cases: 1 });
    expect(result.cases[0]?.trials[0]).to.deep.include({ error: "It broke" });
    expect(result.problems[0]).to.include({ code: "AE_AGENT_EXECUTION" });
  });
});

describe("judges of an evaluation", () => {
  it("may name their model, and have their calls priced", async () => {
    const model = new ScriptedModel(() => '{"grade": "good", "reason": "fine"}');
    const scorers = [
      judge({ rubric: "Clear", model: "nobody/nothing" }),
      judge({ name: "own", rubric: "Clear", model }),
    ];
    const result = await evaluate({ ...one, scorers, costConfiguration: RATES });
    expect(result.scores[1]).to.include({ scorer: "own", mean: 0.75 });
    expect(result.problems.map(({ scorer: name }) => name)).to.deep.equal(["judge"]);
  });
});

describe("an evaluation of a conversation", () => {
  const inputs: readonly (readonly [unknown, string])[] = [
    [7, "must be a message, a list of messages or { goal }, got: 7"],
    [[], "must be a message, a list of messages or { goal }"],
    [["a", 1], "must be a message, a list of messages or { goal }"],
    [{ goal: " " }, "The goal of a simulated user must be a text"],
    [{ goal: "g", maxTurns: 51 }, "at most 50"],
    [{ goal: "g", maxTurn: 1 }, "maxTurns"],
  ];
  const talked = (input: unknown, answers: readonly string[]): Promise<EvaluationResult> => {
    const target = new Conversation({
      agent: new Agent({ role: "Clerk", goal: "Help", model: new ScriptedModel(() => "hello") }),
    });
    const model = new ScriptedModel([...answers]);
    const dataset = [{ input, expected: "hello" }] as never;
    return evaluate({ name: "talk", target, model, dataset, scorers: [exact()] });
  };

  for (const [input, message] of inputs)
    it(`has a problem with the input ${JSON.stringify(input)}`, async () => {
      const { problems } = await talked(input, []);
      expect(problems[0]).to.include({ kind: "target", code: "AE_VALIDATION" });
      expect(problems[0]?.message).to.contain(message);
    });

  it("ends when the simulated user is done, and fails without a message", async () => {
    const user = { goal: "a greeting" };
    const done = await talked(user, ['{"message":"Hi"}', '{"message":"","done":true}']);
    expect(done.scores[0]).to.include({ mean: 1 });
    const opened = await talked({ ...user, opening: "Hi", persona: "Rude.", maxTurns: 1 }, []);
    expect(opened.scores[0]).to.include({ mean: 1 });
    for (const answer of ["no JSON", '{"message":" "}']) {
      const { problems } = await talked(user, [answer]);
      expect(problems[0]?.message).to.contain("answered no message");
    }
  });
});

describe("datasets of files refuse", () => {
  it("invalid schemas", () => {
    for (const inputType of [7, null, {}, () => 1])
      expect(() => Dataset.jsonl("cases.jsonl", { inputType } as never)).to.throw(
        "must be a Standard Schema",
      );
  });

  it("rows that a function can't map", async () => {
    const path = join(temporaryFolder(), "cases.jsonl");
    writeFileSync(path, '{"q":1}\n');
    const map = (): never => {
      throw new Error("no answer");
    };
    const work = evaluate({ ...one, dataset: Dataset.jsonl(path, { map }), scorers: [exact()] });
    refuses(await rejection(work), "AE_DATASET", "line 1: map failed: no answer");
  });

  it("named datasets that change, also with fewer cases", async () => {
    let passes = 0;
    const dataset = {
      name: "shrinking",
      async *read() {
        yield { input: 1 };
        if (passes++ === 0) yield { input: 2 };
      },
    };
    const error = await rejection(evaluate({ ...one, dataset, scorers: [exact()] }));
    refuses(error, "AE_DATASET", "'shrinking' had 2 cases when it was read first, and has 1 now");
  });
});
