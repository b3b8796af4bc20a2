import type { AnyTask, EnsembleOptions, EnsembleOutput, UsageRecord } from "agentensemble";
import {
  Agent,
  Ensemble,
  Loop,
  MapReduceEnsemble,
  ModelCallError,
  Task,
  Tokens,
  definePlugin,
} from "agentensemble";
import { budget, retry } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import fc from "fast-check";
import { pause } from "../../../support/time.js";

/** Exact by construction: every message has ten tokens of input, including its frame. */
const counting = definePlugin({
  name: "counting",
  bind: (bind) => void bind.single(Tokens.TokenCounter).toConstantValue({ count: () => 6 }),
});
const RATES = { inputTokenRate: 0.001, outputTokenRate: 0.003 };

type Shape =
  "SEQUENTIAL" | "PARALLEL" | "HIERARCHICAL" | "delegating" | "loop" | "map-reduce" | "joined";

interface Case {
  readonly shape: Shape;
  readonly size: number;
  readonly limit: { readonly maxTokens: number } | { readonly maxCost: number };
  readonly rejects: boolean;
  readonly perCall: number;
  /**
   * The model reads these in turn: the used share of its allowance, its report, its failure, and
   * its duration.
   */
  readonly moves: readonly {
    readonly share: number;
    readonly reports: boolean;
    readonly fails: boolean;
    readonly delay: number;
  }[];
}

const moves = fc.array(
  fc.record({
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    reports: fc.boolean(),
    fails: fc.integer({ max: 9, min: 0 }).map((n) => n === 0),
    delay: fc.integer({ min: 0, max: 3 }),
  }),
  { minLength: 1, maxLength: 12 },
);
const cases: fc.Arbitrary<Case> = fc.record({
  shape: fc.constantFrom<Shape>(
    "SEQUENTIAL",
    "PARALLEL",
    "HIERARCHICAL",
    "delegating",
    "loop",
    "map-reduce",
    "joined",
  ),
  size: fc.integer({ min: 1, max: 6 }),
  limit: fc.oneof(
    fc.record({ maxTokens: fc.integer({ min: 1, max: 3_000 }) }),
    fc.record({ maxCost: fc.double({ min: 0.01, max: 8, noNaN: true }) }),
  ),
  rejects: fc.boolean(),
  perCall: fc.integer({ min: 1, max: 600 }),
  moves,
});

/** A model that obeys its output limit; without a limit it would use 5,000 tokens. */
class ObedientModel {
  readonly used: { readonly at: number; readonly input: number; readonly output: number }[] = [];
  calls = 0;
  stoppedAt: number | undefined;
  lateStarts = 0;
  readonly model: ScriptedModel;

  constructor(moves: Case["moves"]) {
    this.model = new ScriptedModel(async (request, index) => {
      const move = moves[index % moves.length] ?? moves[0];
      if (move === undefined) throw new Error("no move");
      if (this.stoppedAt !== undefined) this.lateStarts++;
      const input = 10 * (request.messages.length + (request.tools?.length ?? 0));
      const output = Math.floor(move.share * (request.maxOutputTokens ?? 5_000));
      if (move.delay === 1) await Promise.resolve();
      else if (move.delay > 1) await pause(move.delay - 2);
      if (move.fails) {
        this.used.push({ at: index, input, output: 0 });
        throw new ModelCallError("broken", {
          provider: "scripted",
          modelId: "m",
          code: "AE_MODEL_SERVER",
          retryable: true,
        });
      }
      const wants = (request.tools ?? []).find(({ name }) => name.startsWith("delegate"));
      const delegates =
        wants !== undefined && request.messages.filter(({ role }) => role === "tool").length < 2;
      // without a report an answer counts by its text: 6 tokens by this counter
      const spent = move.reports ? output : Math.min(6, request.maxOutputTokens ?? 6);
      this.used.push({ at: index, input, output: spent });
      const usage = move.reports ? { usage: { inputTokens: input, outputTokens: output } } : {};
      const call = {
        name: wants?.name ?? "",
        arguments: { agentRole: "w", taskDescription: "help" },
      };
      return delegates ? { text: "", toolCalls: [call], ...usage } : { text: "x", ...usage };
    });
  }

  get tokens(): number {
    return this.used.reduce((sum, { input, output }) => sum + input + output, 0);
  }

  get cost(): number {
    return this.used.reduce(
      (sum, { input, output }) =>
        sum + input * RATES.inputTokenRate + output * RATES.outputTokenRate,
      0,
    );
  }
}

const worker = new Agent({ role: "w", goal: "g" });
const task = (i: number, agent: Agent): Task =>
  new Task({ name: `t${i}`, description: `Do ${i}`, agent });

function optionsFor(
  { shape, size }: Case,
  model: ScriptedModel,
): { readonly options: EnsembleOptions; readonly inner?: Ensemble } {
  const agent = new Agent({ role: "r", goal: "g", allowDelegation: shape === "delegating" });
  const numbers = Array.from({ length: size }, (_, i) => i);
  const tasks: AnyTask[] = numbers.map((i) => task(i, agent));
  const common = { model, parallelErrorStrategy: "CONTINUE_ON_ERROR" as const };
  if (shape === "loop")
    return {
      options: {
        ...common,
        loops: [new Loop({ name: "l", tasks: [task(0, agent)], maxIterations: size })],
      },
    };
  if (shape === "delegating")
    return { options: { ...common, tasks, agents: [worker], workflow: "PARALLEL" } };
  if (shape === "HIERARCHICAL")
    return {
      options: {
        ...common,
        tasks: numbers.map(
          (i) => new Task({ name: `t${i}`, description: `Do ${i}`, agent: worker }),
        ),
        workflow: shape,
      },
    };
  if (shape !== "joined")
    return { options: { ...common, tasks, workflow: shape === "PARALLEL" ? shape : "SEQUENTIAL" } };
  const inner = new Ensemble({
    ...common,
    tasks: [task(0, agent), task(1, agent)],
    workflow: "PARALLEL",
    plugins: [counting],
  });
  const joins = numbers.map(
    (i) =>
      new Task({
        name: `j${i}`,
        description: "join",
        handler: async (ctx) => (await inner.run({}, { parent: ctx.run })).raw,
      }),
  );
  return { options: { ...common, tasks: [...joins, task(9, agent)], workflow: "PARALLEL" }, inner };
}

async function perform(c: Case, obedient: ObedientModel): Promise<EnsembleOutput> {
  const { model } = obedient;
  const limit = budget({
    ...c.limit,
    maxOutputTokensPerCall: c.perCall,
    onExceeded: c.rejects ? "reject" : "stop",
  });
  const plugins = [limit, counting, retry({ maxAttempts: 2, baseDelayMs: 0 })];
  const noteStop = (e: { readonly type: string; readonly action?: string }): void => {
    if (e.type === "budget_exceeded" && e.action === "stop")
      obedient.stoppedAt ??= model.requests.length;
    if (e.type === "task_started" && obedient.stoppedAt !== undefined) obedient.lateStarts++;
  };
  if (c.shape === "map-reduce") {
    const watching = definePlugin({
      name: "watching",
      apply: ({ events }) => void events.on(noteStop),
    });
    const items = Array.from({ length: c.size + 1 }, (_, i) => i);
    const mapReduce = new MapReduceEnsemble({
      items,
      model,
      mapTask: (i) => task(i, worker),
      reduceTask: (context) =>
        new Task({ description: `Reduce ${context.length}`, agent: worker, context }),
      plugins: [
        ...plugins,
        watching,
        definePlugin({
          name: "prices",
          bind: (bind) => void bind.single(Tokens.CostConfiguration).toConstantValue(RATES),
        }),
      ],
    });
    return mapReduce.run({}, { throwOnError: false });
  }
  const { options, inner } = optionsFor(c, model);
  await using team = new Ensemble({ ...options, costConfiguration: RATES, plugins, on: noteStop });
  try {
    return await team.run({}, { throwOnError: false });
  } finally {
    await inner?.dispose();
  }
}

const known = (records: readonly UsageRecord[]): number =>
  records.reduce(
    (sum, { inputTokens, outputTokens }) =>
      sum + Math.max(0, inputTokens) + Math.max(0, outputTokens),
    0,
  );

describe("a budget of any team", () => {
  it("is never exceeded by a model that respects its output limit, and nothing starts after the stop", async () => {
    const reached = { stop: 0, within: 0 };
    await fc.assert(
      fc.asyncProperty(cases, async (c) => {
        const obedient = new ObedientModel(c.moves);
        const output = await perform(c, obedient);
        if ("maxTokens" in c.limit) expect(obedient.tokens).to.be.at.most(c.limit.maxTokens);
        else expect(obedient.cost).to.be.at.most(c.limit.maxCost + 1e-6);
        expect(obedient.lateStarts, "starts after the stop").to.equal(0);
        expect(output.metrics.ledger).to.have.length(obedient.used.length);
        expect(known(output.metrics.ledger)).to.be.at.most(obedient.tokens);
        if (obedient.stoppedAt !== undefined)
          expect(output.error).to.have.property("code", "AE_BUDGET_EXCEEDED");
        reached[obedient.stoppedAt === undefined ? "within" : "stop"]++;
      }),
      { numRuns: 150 },
    );
    expect(reached.stop).to.be.greaterThan(10);
    expect(reached.within).to.be.greaterThan(10);
  });
});
