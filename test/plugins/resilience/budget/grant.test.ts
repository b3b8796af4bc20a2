import type { EnsembleOptions, SpendingGrant, SpendingRequest, TaskContext } from "agentensemble";
import { Ensemble, Kernel, Task, Tokens, ValidationError } from "agentensemble";
import { BudgetExceededError, budget, type BudgetOptions } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import type { HookRun } from "../../../../src/contracts/run.js";
import { failure } from "../../../support/kernel-fixtures.js";

/** Asks the guard of a run for a part of its budget. */
const grantIn = ({ run }: TaskContext, request: SpendingRequest | object = {}): SpendingGrant =>
  run.get(Tokens.SpendingGuard).grant(run as HookRun, request);

describe("a grant of a run's budget", () => {
  const model = new ScriptedModel(() => ({
    text: "done",
    usage: { inputTokens: 10, outputTokens: 20 },
  }));
  const run = async (
    options: BudgetOptions | undefined,
    work: (ctx: TaskContext) => unknown,
    o: EnsembleOptions = {},
  ): Promise<void> => {
    await using ensemble = new Ensemble({
      model,
      ...(options !== undefined && { plugins: [budget(options)] }),
      ...o,
      tasks: [
        new Task({
          description: "Have it done elsewhere",
          handler: async (ctx) => (await work(ctx), "done"),
        }),
        Task.of("Say hello"),
      ],
    });
    await ensemble.run();
  };

  it("is what is asked for, or what is left", async () => {
    await run({ maxTokens: 10_000 }, (ctx) => {
      const grants = [grantIn(ctx, { maxTokens: 1_000 }), grantIn(ctx, { maxTokens: 20_000 })];
      expect(grants.map(({ maxTokens }) => maxTokens)).to.deep.equal([1_000, 9_000]);
      for (const grant of grants) grant.settle({ tokens: 0 });
    });
  });

  it("keeps calls from what it holds until it is settled, and counts what was used, once", async () => {
    const exceeded = await failure(
      run({ maxTokens: 10_000 }, (ctx) => {
        const grant = grantIn(ctx);
        grant.settle({ tokens: 9_990 });
        grant.settle({ tokens: 0 });
      }),
    );
    expect(BudgetExceededError.find(exceeded)?.message).to.include("9990 of 10000 tokens used");
    await run({ maxTokens: 10_000 }, (ctx) => {
      const grant = grantIn(ctx);
      grant.settle({ tokens: 100 });
      grant.settle({ tokens: 9_900 });
    });
  });

  it("makes a call wait for its end, where that leaves room", async () => {
    const held: SpendingGrant[] = [];
    let called = false;
    await using kernel = new Kernel({ plugins: [budget({ maxTokens: 6_000 })] });
    kernel.hooks.afterLlmCall.tap(() => void (called = true));
    await run(
      undefined,
      (ctx) => {
        held.push(grantIn(ctx, { maxTokens: 5_900 }));
        setTimeout(() => {
          expect(called).to.equal(false);
          held[0]?.settle({ tokens: 1 });
        }, 20);
      },
      { kernel },
    );
    expect(called).to.equal(true);
  });

  it("counts as used where what was used is no amount, and says so", async () => {
    for (const tokens of [Number.NaN, -1e9, Infinity, "5", undefined]) {
      const exceeded = await failure(
        run({ maxTokens: 500 }, (ctx) => {
          const grant = grantIn(ctx, { maxTokens: 499 });
          expect(() => grant.settle({ tokens: tokens as never })).to.throw(
            ValidationError,
            `settle() tokens and cost must be numbers >= 0, got: ${tokens}`,
          );
          grant.settle({ tokens: 0 });
        }),
      );
      expect(BudgetExceededError.find(exceeded)?.message).to.include("499 of 500 tokens used");
    }
  });

  it("comes from the budgets of the runs joined, too, and holds costs", async () => {
    await using outerKernel = new Kernel({ plugins: [budget({ maxTokens: 2_000 })] });
    const inner = new Ensemble({
      tasks: [
        new Task({
          description: "In",
          handler: (ctx) => {
            const grant = grantIn(ctx, { maxTokens: 5_000, maxCost: 3 });
            expect([grant.maxTokens, grant.maxCost]).to.deep.equal([2_000, 0.5]);
            grant.settle({ tokens: 7, cost: 0.25 });
            expect(grantIn(ctx, {}).maxCost).to.equal(0.25);
            return "in";
          },
        }),
      ],
      plugins: [budget({ maxCost: 0.5 })],
      costConfiguration: { inputTokenRate: 1, outputTokenRate: 1 },
    });
    const outer = new Ensemble({
      kernel: outerKernel,
      tasks: [
        new Task({
          description: "Out",
          handler: async ({ run: parent }) => (await inner.run({}, { parent })).raw,
        }),
      ],
    });
    expect((await outer.run()).raw).to.equal("in");
    await inner.dispose();
  });

  it("has no limits where the run has no budget", async () => {
    await run(undefined, (ctx) => {
      const grant = grantIn(ctx, { maxTokens: 5 });
      expect([grant.maxTokens, grantIn(ctx).maxTokens]).to.deep.equal([5, undefined]);
      grant.settle({ tokens: 9 });
    });
  });

  it("is refused where nothing is left, and for limits that are none", async () => {
    await run(undefined, (ctx) => {
      for (const request of [
        { maxTokens: 0 },
        { maxCost: -1 },
        { maxCost: Infinity },
        { tokens: 5 },
      ])
        expect(() => grantIn(ctx, request)).to.throw(ValidationError);
    });
    const error = await failure(
      run({ maxTokens: 500 }, (ctx) => {
        grantIn(ctx);
        grantIn(ctx);
      }),
    );
    expect(BudgetExceededError.find(error)?.limit).to.equal("maxTokens");
  });
});
