import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ensemble, openai, Task, type Plugin } from "agentensemble";
import { durable, Journal } from "agentensemble/durability";
import { evaluate, exact, judge, recordings, type EvaluationResult } from "agentensemble/evals";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { OpenAIServer } from "../support/openai-server.js";
import { rejection } from "../support/rejection.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const RATES = { inputTokenRate: 1e-6, outputTokenRate: 2e-6 };

/** A vendor on loopback that never repeats an answer. */
async function vendor(): Promise<{ readonly server: OpenAIServer; readonly calls: () => number }> {
  let calls = 0;
  const server = await OpenAIServer.start(() => ({
    kind: "answer",
    text: `answer ${++calls}`,
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  }));
  return { server, calls: () => calls };
}

function team(server: OpenAIServer, prompt: string, plugins: readonly Plugin[]): Ensemble {
  return new Ensemble({
    model: openai("gpt-4o-mini", { apiKey: "sk-test", baseURL: server.url }),
    tasks: [Task.of(prompt), Task.of("Say {n} again")],
    costConfiguration: RATES,
    plugins,
  });
}

const dataset = Array.from({ length: 4 }, (_, i) => ({ input: { n: i }, expected: "x" }));

async function evaluated(
  server: OpenAIServer,
  plugins: readonly Plugin[],
  prompt = "Say {n}",
): Promise<EvaluationResult> {
  const target = team(server, prompt, plugins);
  const options = { name: "recorded", target, dataset, scorers: [exact()] };
  const result = await evaluate({ ...options, trials: 3 });
  await target.dispose();
  return result;
}

const outputsOf = ({ cases }: EvaluationResult): unknown =>
  cases.map(({ trials }) => trials.map(({ output }) => output));

describe("an evaluation with recordings", function () {
  this.timeout(60_000);

  it("makes no call in a second execution, and returns each trial its own answer", async () => {
    const { server, calls } = await vendor();
    const file = join(temporaryFolder(), "responses.jsonl");
    const first = await evaluated(server, [recordings(file)]);
    expect(calls()).to.equal(24);
    const second = await evaluated(server, [recordings(file)]);
    expect(calls()).to.equal(24);
    expect(outputsOf(second)).to.deep.equal(outputsOf(first));
    expect(new Set((outputsOf(first) as string[][]).flat()).size).to.equal(12);
    expect(second.spending.target).to.include({ calls: 0, answered: 24, inputTokens: 240 });
    expect(second.spending.target.recordedCost).to.be.closeTo(
      first.spending.target.cost ?? 0,
      1e-9,
    );
    await server.close();
  });

  it("calls the model for changed requests only", async () => {
    const { server, calls } = await vendor();
    const file = join(temporaryFolder(), "responses.jsonl");
    const few = { name: "some", scorers: [exact()], trials: 1 };
    const one = team(server, "Say {n}", [recordings(file)]);
    await evaluate({ ...few, target: one, dataset: dataset.slice(0, 2) });
    await one.dispose();
    expect(calls()).to.equal(4);
    const more = team(server, "Say {n}", [recordings(file)]);
    await evaluate({ ...few, target: more, dataset });
    await more.dispose();
    expect(calls()).to.equal(8);
    await server.close();
  });

  it("continues after a cancellation, and repeats no paid call", async () => {
    const { server, calls } = await vendor();
    const file = join(temporaryFolder(), "responses.jsonl");
    const end = new AbortController();
    const target = team(server, "Say {n}", [recordings(file)]);
    const cut = await evaluate({
      ...{ name: "cut", target, dataset, scorers: [exact()], concurrency: 1 },
      signal: end.signal,
      onProgress: ({ done }) => {
        if (done === 2) end.abort(new Error("enough"));
      },
    });
    await target.dispose();
    expect(cut.status).to.equal("cancelled");
    expect(calls()).to.equal(4);
    const again = team(server, "Say {n}", [recordings(file)]);
    await evaluate({ name: "cut", target: again, dataset, scorers: [exact()] });
    await again.dispose();
    expect(calls()).to.equal(8);
    await server.close();
  });

  it("answers repeated requests within a trial separately, twice in one process", async () => {
    let calls = 0;
    const model = new ScriptedModel(() => `vote ${++calls}`);
    const file = join(temporaryFolder(), "votes.jsonl");
    const plugin = recordings(file);
    await using voter = new Ensemble({ model, tasks: [Task.of("Vote")], plugins: [plugin] });
    const of = (): Promise<EvaluationResult> =>
      evaluate({
        name: "votes",
        target: async (_n: number, context) => {
          const votes = [(await context.run(voter)).raw, (await context.run(voter)).raw];
          return votes.join(", ");
        },
        dataset: [{ input: 1 }],
        scorers: [exact({ name: "none" })],
      });
    expect(outputsOf(await of())).to.deep.equal([["vote 1, vote 2"]]);
    expect(outputsOf(await of())).to.deep.equal([["vote 1, vote 2"]]);
    expect(calls).to.equal(2);
  });

  it("serves kernels that start and end at the same time", async () => {
    const file = join(temporaryFolder(), "shared.jsonl");
    const plugin = recordings(file);
    let calls = 0;
    const model = new ScriptedModel(() => `text ${++calls}`);
    const of = (): Promise<EvaluationResult> =>
      evaluate({
        name: "shared",
        target: async (n: number, context) => {
          await using one = new Ensemble({ model, tasks: [Task.of("Say {n}")], plugins: [plugin] });
          return (await context.run(one, { n })).raw;
        },
        dataset: Array.from({ length: 12 }, (_, input) => ({ input })),
        scorers: [exact({ name: "none" })],
      });
    const first = await of();
    expect(first.problems.filter(({ kind }) => kind === "target")).to.deep.equal([]);
    expect(calls).to.equal(12);
    expect(outputsOf(await of())).to.deep.equal(outputsOf(first));
    expect(calls).to.equal(12);
  });

  it("records the calls of judges", async () => {
    let calls = 0;
    const model = new ScriptedModel(() => {
      calls++;
      return '{"reason": "clear", "grade": "good"}';
    });
    const file = join(temporaryFolder(), "judge.jsonl");
    for (let i = 0; i < 2; i++) {
      const result = await evaluate({
        ...{ name: "judged", model, plugins: [recordings(file)], dataset: [{ input: 1 }] },
        target: () => "text",
        scorers: [judge({ rubric: "Be clear", votes: 2 })],
      });
      expect(result.scores[0]?.mean).to.equal(0.75);
      expect(result.spending.judges).to.include({ calls: 2 - 2 * i, answered: 2 * i });
    }
    expect(calls).to.equal(2);
  });

  it("requires no key, and fails at a missing request, with onMiss fail", async () => {
    const file = join(temporaryFolder(), "none.jsonl");
    await using target = new Ensemble({
      model: "openai:gpt-4o-mini",
      tasks: [Task.of("x")],
      plugins: [recordings(file, { onMiss: "fail" })],
    });
    const key = process.env["OPENAI_API_KEY"];
    delete process.env["OPENAI_API_KEY"];
    const result = await evaluate({
      name: "m",
      target,
      dataset: [{ input: {} }],
      scorers: [exact()],
    });
    if (key !== undefined) process.env["OPENAI_API_KEY"] = key;
    expect(result.cases[0]?.trials[0]?.error).to.contain("is not in");
  });

  it("keeps the file private to its owner, and drops a truncated last line", async () => {
    const file = join(temporaryFolder(), "cut.jsonl");
    const model = new ScriptedModel(() => "text");
    const of = async (): Promise<EvaluationResult> => {
      await using target = new Ensemble({
        model,
        tasks: [Task.of("{n}")],
        plugins: [recordings(file)],
      });
      return await evaluate({ name: "cut", target, dataset, scorers: [exact()] });
    };
    await of();
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    appendFileSync(file, '{"key":"abc","resp');
    expect((await of()).spending.target.calls).to.equal(0);
    expect(readFileSync(file, "utf8").endsWith("}\n")).to.equal(true);
    writeFileSync(file, '{"format":"something else"}\n');
    expect(
      await rejection(
        new Ensemble({ model, tasks: [Task.of("x")], plugins: [recordings(file)] }).run(),
      ),
    ).to.include({
      code: "AE_FILE_FORMAT",
    });
  });
});

describe("an evaluation with durable()", function () {
  this.timeout(60_000);

  it("reads finished trials from the journal, and repeats the others after a change of the prompt", async () => {
    const { server, calls } = await vendor();
    const journal = Journal.inMemory();
    const first = await evaluated(server, [durable({ journal })]);
    expect(calls()).to.equal(24);
    const second = await evaluated(server, [durable({ journal })]);
    expect(calls()).to.equal(24);
    expect(outputsOf(second)).to.deep.equal(outputsOf(first));
    await evaluated(server, [durable({ journal })], "Please say {n}");
    expect(calls()).to.equal(48);
    await journal.close();
    await server.close();
  });
});

describe("the budget of an evaluation", () => {
  const usage = { inputTokens: 100, outputTokens: 100 };
  it("applies to all trials and judges together, and keeps finished results", async () => {
    const model = new ScriptedModel(() => ({ text: "text", usage }));
    await using target = new Ensemble({
      model,
      tasks: [new Task({ description: "Say {n}", modelOptions: { maxOutputTokens: 100 } })],
    });
    const cases = Array.from({ length: 40 }, (_, i) => ({ input: { n: i }, expected: "text" }));
    const result = await evaluate({
      ...{ name: "b", target, dataset: cases, scorers: [exact()], concurrency: 2 },
      budget: { maxTokens: 2_000 },
    });
    expect(result.status).to.equal("incomplete");
    const { inputTokens, outputTokens } = result.spending.target;
    expect(inputTokens + outputTokens).to.be.within(1_000, 2_000);
    expect(result.scores[0]).to.include({ mean: 1 });
    expect(result.problems.map(({ kind }) => kind)).to.deep.equal(["budget"]);
  });

  it("ends the evaluation at a time", async () => {
    const result = await evaluate({
      name: "time",
      target: () => new Promise<number>((resolve) => setTimeout(() => resolve(1), 20)),
      dataset: Array.from({ length: 1_000 }, (_, i) => ({ input: i })),
      scorers: [exact()],
      budget: { maxDurationMs: 100 },
    });
    expect(result.status).to.equal("incomplete");
    expect(result.scores[0]?.errors).to.be.lessThan(1_000);
  });
});
