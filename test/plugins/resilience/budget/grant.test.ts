import type {
  Awaitable,
  EnsembleOptions,
  SpendingGrant,
  SpendingRequest,
  TaskContext,
} from "agentensemble";
import { Ensemble, Kernel, Task, Tokens, ValidationError, definePlugin } from "agentensemble";
import { BudgetExceededError, budget, type BudgetOptions } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import type { HookRun } from "../../../../src/contracts/run.js";
import { failure } from "../../../support/kernel-fixtures.js";
import { SharedBudgets } from "../../../support/shared-budgets.js";

/** Asks the guard of a run for a part of its budget. */
const grantIn = (
  { run }: TaskContext,
  request: SpendingRequest | object = {},
): Awaitable<SpendingGrant> => run.get(Tokens.SpendingGuard).grant(run as HookRun, request);

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

  it("is the requested amount, or the remaining amount", async () => {
    await run({ maxTokens: 10_000 }, async (ctx) => {
      const grants = [
        await grantIn(ctx, { maxTokens: 1_000 }),
        await grantIn(ctx, { maxTokens: 20_000 }),
      ];
      expect(grants.map(({ maxTokens }) => maxTokens)).to.deep.equal([1_000, 9_000]);
      for (const grant of grants) await grant.settle({ tokens: 0 });
    });
  });

  it("withholds its amount from calls until it is settled, and counts the usage once", async () => {
    const exceeded = await failure(
      run({ maxTokens: 10_000 }, async (ctx) => {
        const grant = await grantIn(ctx);
        await grant.settle({ tokens: 9_990 });
        await grant.settle({ tokens: 0 });
      }),
    );
    expect(BudgetExceededError.find(exceeded)?.message).to.include("9990 of 10000 tokens used");
    await run({ maxTokens: 10_000 }, async (ctx) => {
      const grant = await grantIn(ctx);
      await grant.settle({ tokens: 100 });
      await grant.settle({ tokens: 9_900 });
    });
  });

  it("delays a call until its end if that would free enough", async () => {
    const held: SpendingGrant[] = [];
    let called = false;
    await using kernel = new Kernel({ plugins: [budget({ maxTokens: 6_000 })] });
    kernel.hooks.afterLlmCall.tap(() => void (called = true));
    await run(
      undefined,
      async (ctx) => {
        held.push(await grantIn(ctx, { maxTokens: 5_900 }));
        setTimeout(() => {
          expect(called).to.equal(false);
          void held[0]?.settle({ tokens: 1 });
        }, 20);
      },
      { kernel },
    );
    expect(called).to.equal(true);
  });

  it("counts as fully used, with a warning, if the reported usage is invalid", async () => {
    for (const tokens of [Number.NaN, -1e9, Infinity, "5", undefined]) {
      const exceeded = await failure(
        run({ maxTokens: 500 }, async (ctx) => {
          const grant = await grantIn(ctx, { maxTokens: 499 });
          expect(() => grant.settle({ tokens: tokens as never })).to.throw(
            ValidationError,
            `settle() tokens and cost must be numbers >= 0, got: ${tokens}`,
          );
          await grant.settle({ tokens: 0 });
        }),
      );
      expect(BudgetExceededError.find(exceeded)?.message).to.include("499 of 500 tokens used");
    }
  });

  it("also reduces the budgets of the joined runs, and includes costs", async () => {
    await using outerKernel = new Kernel({ plugins: [budget({ maxTokens: 2_000 })] });
    const inner = new Ensemble({
      tasks: [
        new Task({
          description: "In",
          handler: async (ctx) => {
            const grant = await grantIn(ctx, { maxTokens: 5_000, maxCost: 3 });
            expect([grant.maxTokens, grant.maxCost]).to.deep.equal([2_000, 0.5]);
            await grant.settle({ tokens: 7, cost: 0.25 });
            expect((await grantIn(ctx, {})).maxCost).to.equal(0.25);
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

  it("has no limits if the run has no budget", async () => {
    await run(undefined, async (ctx) => {
      const grant = await grantIn(ctx, { maxTokens: 5 });
      expect([grant.maxTokens, (await grantIn(ctx)).maxTokens]).to.deep.equal([5, undefined]);
      await grant.settle({ tokens: 9 });
    });
  });

  it("counts as fully used if it is not settled when its run ends", async () => {
    const inner = new Ensemble({
      tasks: [
        new Task({
          description: "Forget a grant",
          handler: async (ctx) => (await grantIn(ctx, { maxTokens: 9_950 }), "in"),
        }),
      ],
    });
    const exceeded = await failure(
      run({ maxTokens: 10_000 }, ({ run: parent }) => inner.run({}, { parent })),
    );
    expect(BudgetExceededError.find(exceeded)?.message).to.include("9950 of 10000 tokens used");
    await inner.dispose();
  });

  it("counts as fully used if it is not settled in time, and calls continue", async () => {
    const before = model.requests.length;
    await run({ maxTokens: 6_000 }, async (ctx) => {
      await grantIn(ctx, { maxTokens: 3_000, timeoutMs: 10 });
    });
    const limits = model.requests.slice(before).map((request) => request.maxOutputTokens ?? 0);
    expect(limits).to.have.length(1);
    expect(limits[0]).to.be.within(100, 2_999);
  });

  it("leaves no timer when it is settled, or its run has ended", async () => {
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    await Promise.resolve(); // mocha starts its own timer in the meantime
    const before = timers();
    for (const budgeted of [{ maxTokens: 10_000 }, undefined])
      for (const settles of [true, false])
        await run(budgeted, async (ctx) => {
          const grant = await grantIn(ctx, { maxTokens: 5, timeoutMs: 60_000 });
          if (settles) await grant.settle({ tokens: 1 });
        });
    expect(timers()).to.equal(before);
  });

  it("is refused after the end of its run", async () => {
    for (const budgeted of [{ maxTokens: 10_000 }, undefined]) {
      let ended: TaskContext | undefined;
      await run(budgeted, (ctx) => void (ended = ctx));
      expect(() => ended && grantIn(ended)).to.throw(ValidationError, "has ended");
    }
  });

  it("can come from an account in another process", async () => {
    const store = new SharedBudgets();
    const elsewhere = definePlugin({
      name: "elsewhere",
      bind: (bind) => void bind.single(Tokens.BudgetAccounts).toConstantValue(store.client()),
    });
    const work = run(
      undefined,
      async (ctx) => {
        const key = `run:${ctx.run.id}/budget:0`;
        const grants = await Promise.all([1, 2].map(async () => grantIn(ctx, { maxTokens: 600 })));
        expect(grants.map(({ maxTokens }) => maxTokens)).to.have.members([600, 400]);
        expect(store.stateOf(key).reserved.tokens).to.equal(1_000);
        const third = async (): Promise<SpendingGrant> => grantIn(ctx);
        expect((await failure(third())).code).to.equal("AE_BUDGET_EXCEEDED");
        for (const grant of grants) await grant.settle({ tokens: 50 });
        const last = await grantIn(ctx);
        expect(last.maxTokens).to.equal(900);
        const broken = failure(Promise.resolve(last.settle({ tokens: Number.NaN })));
        expect((await broken).code).to.equal("AE_VALIDATION");
        expect(store.stateOf(key)).to.deep.include({ used: { tokens: 1_000, cost: 0 } });
      },
      {
        plugins: [budget({ maxTokens: 1_000 }), elsewhere],
      },
    );
    const exceeded = BudgetExceededError.find(await failure(work)); // of the call that follows
    expect(exceeded?.message).to.include("1000 of 1000 tokens used");
  });

  it("is refused if nothing remains, and for invalid limits", async () => {
    await run(undefined, async (ctx) => {
      for (const request of [
        { maxTokens: 0 },
        { maxCost: -1 },
        { maxCost: Infinity },
        { timeoutMs: 0 },
        { tokens: 5 },
      ])
        expect(() => grantIn(ctx, request)).to.throw(ValidationError);
    });
    const error = await failure(
      run({ maxTokens: 500 }, async (ctx) => {
        await grantIn(ctx);
        await grantIn(ctx);
      }),
    );
    expect(BudgetExceededError.find(error)?.limit).to.equal("maxTokens");
  });
});
