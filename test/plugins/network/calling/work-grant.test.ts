import { expect } from "chai";
import type { WorkResponse } from "../../../../src/contracts/network.js";
import type { TaskScope } from "../../../../src/contracts/run.js";
import type { SpendingGuard } from "../../../../src/contracts/spending.js";
import { ValidationError } from "../../../../src/contracts/errors.js";
import { Tokens } from "../../../../src/contracts/tokens.js";
import { grantFor } from "../../../../src/plugins/network/calling/work-grant.js";
import { rejectionOf } from "../../../support/rejection.js";

interface Seen {
  readonly settled: unknown[];
  readonly metrics: unknown[];
  readonly warnings: unknown[];
}

/** A scope with a budget, prices, and its received requests. */
function scopeWith(o: { guard?: SpendingGuard; prices?: unknown } = {}): {
  readonly scope: TaskScope;
  readonly seen: Seen;
} {
  const seen: Seen = { settled: [], metrics: [], warnings: [] };
  const scope = {
    run: { id: "r" },
    find: (token: unknown) =>
      token === Tokens.SpendingGuard
        ? o.guard
        : token === Tokens.CostConfiguration
          ? o.prices
          : undefined,
    recordMetrics: (metrics: unknown) => seen.metrics.push(metrics),
    emit: (event: unknown) => seen.warnings.push(event),
  } as unknown as TaskScope; // grantFor needs no more of it
  return { scope, seen };
}

const response = (usage: WorkResponse["usage"]): WorkResponse => ({
  v: 1,
  requestId: "q",
  status: "COMPLETED",
  durationMs: 1,
  usage,
});

const guardWith = (
  limits: { maxTokens?: number; maxCost?: number },
  settled: unknown[],
): SpendingGuard => ({
  grant: () => ({ ...limits, settle: (used) => void settled.push(used) }),
});

describe("the grant of a request", () => {
  it("has no limit without a budget and without a limit of the call", async () => {
    const { scope, seen } = scopeWith();
    const grant = await grantFor(scope, undefined, 1_000);
    expect(grant.budget).to.equal(undefined);
    await grant.settle(undefined);
    await grant.settle(response([]));
    expect(seen).to.deep.equal({ settled: [], metrics: [], warnings: [] });
  });

  it("equals the amount that the run's budget grants, in whole tokens", async () => {
    const settled: unknown[] = [];
    const guard = guardWith({ maxTokens: 10.7, maxCost: 2 }, settled);
    const { scope } = scopeWith({ guard, prices: { currency: "EUR" } });
    const asked = { maxTokens: 50, maxCost: 3, currency: "EUR" };
    const grant = await grantFor(scope, asked, 1_000);
    expect(grant.budget).to.deep.equal({ maxTokens: 10, maxCost: 2, currency: "EUR" });
    await grant.settle(undefined);
    expect(settled).to.deep.equal([{ tokens: 10.7, cost: 2 }]);
  });

  it("counts the usage of the response, and costs in the run's currency only", async () => {
    const settled: unknown[] = [];
    const { scope, seen } = scopeWith({ guard: guardWith({ maxCost: 1 }, settled) });
    const usage = [
      { provider: "p", modelId: "m", inputTokens: 5, outputTokens: -1, cost: 0.5 },
      { provider: "p", modelId: "n", cost: 0.25, currency: "EUR" },
    ];
    const grant = await grantFor(scope, {}, 1_000);
    expect(grant.budget).to.deep.equal({ maxCost: 1, currency: "USD" });
    await grant.settle(response(usage));
    expect(settled).to.deep.equal([{ tokens: 5, cost: 0.5 }]);
    expect(seen.metrics).to.deep.equal([{ usage }]);
  });

  it("counts the complete grant without a limit of tokens as its cost", async () => {
    const settled: unknown[] = [];
    const { scope } = scopeWith({ guard: guardWith({ maxCost: 1 }, settled) });
    await (await grantFor(scope, { maxTokens: 7 }, 1_000)).settle(undefined);
    expect(settled).to.deep.equal([{ tokens: 0, cost: 1 }]);
  });

  it("is refused for a cost in another currency than the prices", async () => {
    const { scope } = scopeWith({ prices: { currency: "EUR" } });
    await rejectionOf(ValidationError, grantFor(scope, { maxCost: 1 }, 1_000));
    const byFunction = scopeWith({ prices: () => 0 });
    expect((await grantFor(byFunction.scope, { maxCost: 1 }, 1_000)).budget).to.deep.equal({
      maxCost: 1,
      currency: "USD",
    });
  });

  it("warns if the usage can't be counted", async () => {
    const guard: SpendingGuard = {
      grant: () => ({
        settle: () => {
          throw new Error("not a number");
        },
      }),
    };
    const { scope, seen } = scopeWith({ guard });
    await (await grantFor(scope, {}, 1_000)).settle(response(undefined));
    await (await grantFor(scope, {}, 1_000)).settle(undefined);
    expect(seen.warnings).to.have.lengthOf(2);
    expect(JSON.stringify(seen.warnings)).to.include("request 'q'").and.to.include("not a number");
  });
});
