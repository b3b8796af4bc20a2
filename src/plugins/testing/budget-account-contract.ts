import assert from "node:assert/strict";
import type {
  BudgetAccount,
  BudgetAccountRequest,
  BudgetAccounts,
  BudgetAmount,
  BudgetReservation,
  SharedBudget,
} from "../../contracts/budget-accounts.js";
import type { Awaitable } from "../../contracts/types.js";
import { checkOptions } from "../../contracts/validation.js";
import { sleep } from "../../util/abort/timeouts.js";

/** Accounts for a test of `budgetAccountContract`. */
export interface BudgetAccountsUnderTest {
  /** Must contain no account. */
  readonly accounts: BudgetAccounts;
  /** With `shares`: the same accounts in another process. */
  readonly other?: BudgetAccounts | undefined;
  /** Closes everything, and removes data on servers. */
  readonly dispose?: (() => Awaitable<void>) | undefined;
}

/** Options of `budgetAccountContract`. */
export interface BudgetAccountContractOptions {
  /** Called once per test. With `shares`, leases of 200 to 500 ms keep the tests short. */
  create(): Awaitable<BudgetAccountsUnderTest>;
  /**
   * Whether several processes count together. Requires `other` and accounts with `shared`. Default
   * false.
   */
  readonly shares?: boolean | undefined;
}

type UseAccounts = (body: (subject: BudgetAccountsUnderTest) => Promise<void>) => Promise<void>;

/** The parts of an account in two processes. */
interface Pair {
  readonly here: BudgetAccount;
  readonly there: BudgetAccount;
}

const KEY = "run:contract/budget:0";
/** Longer than any lease that a test can wait for. */
const LONGEST_LEASE_MS = 60_000;

/** Returns an amount. Use quarters, whose sums are exact. */
const amountOf = (tokens: number, cost = 0): BudgetAmount => ({ tokens, cost });

async function openAccountIn(
  accounts: BudgetAccounts,
  request: Partial<BudgetAccountRequest> = {},
): Promise<BudgetAccount> {
  return accounts.open({ key: KEY, earlier: amountOf(0), ...request });
}

async function pairOf(
  { accounts, other }: BudgetAccountsUnderTest,
  request: Partial<BudgetAccountRequest>,
): Promise<Pair> {
  if (other === undefined) return assert.fail("accounts that are shared need `other`");
  return {
    here: await openAccountIn(accounts, request),
    there: await openAccountIn(other, request),
  };
}

async function reserved(account: BudgetAccount, amount: BudgetAmount): Promise<BudgetReservation> {
  const reservation = await account.reserve(amount);
  return reservation ?? assert.fail("the amount should have fitted");
}

async function refused(account: BudgetAccount, amount: BudgetAmount): Promise<void> {
  const answer = await account.reserve(amount);
  assert.equal(answer, undefined, "the amount should not have fitted");
}

function sharedOf({ shared }: BudgetAccount): SharedBudget {
  return shared ?? assert.fail("an account that is shared needs `shared`");
}

function expectState(account: BudgetAccount, used: BudgetAmount, held: BudgetAmount): void {
  assert.deepEqual({ ...account.state.used }, used, "used");
  assert.deepEqual({ ...account.state.reserved }, held, "reserved");
}

function amountSuite(use: UseAccounts): void {
  it("reserves up to the limit and nothing beyond it", () =>
    use(async ({ accounts }) => {
      const account = await openAccountIn(accounts, { maxTokens: 100 });
      await reserved(account, amountOf(60, 3));
      await refused(account, amountOf(41));
      await reserved(account, amountOf(40, 0.25));
      expectState(account, amountOf(0), amountOf(100, 3.25));
    }));
  it("refuses a reservation whose cost alone exceeds the limit, and reserves nothing", () =>
    use(async ({ accounts }) => {
      const account = await openAccountIn(accounts, { maxTokens: 100, maxCost: 1 });
      await refused(account, amountOf(10, 1.25));
      await reserved(account, amountOf(100, 1));
    }));
  it("sets no limit if none is given", () =>
    use(async ({ accounts }) => {
      const account = await openAccountIn(accounts);
      await reserved(account, amountOf(1_000_000_000, 1_000_000));
    }));
}

function settlementSuite(use: UseAccounts): void {
  it("counts the actual usage in place of the reservation", () =>
    use(async ({ accounts }) => {
      const account = await openAccountIn(accounts, { maxTokens: 100 });
      const first = await reserved(account, amountOf(100, 2));
      await first.settle(amountOf(30, 0.5));
      expectState(account, amountOf(30, 0.5), amountOf(0));
      await refused(account, amountOf(71));
      await reserved(account, amountOf(70));
    }));
  it("counts usage above the reservation, and then refuses every reservation", () =>
    use(async ({ accounts }) => {
      const account = await openAccountIn(accounts, { maxTokens: 100 });
      await (await reserved(account, amountOf(10))).settle(amountOf(130));
      expectState(account, amountOf(130), amountOf(0));
      await refused(account, amountOf(1));
    }));
  it("counts a reservation once, however often it is settled", () =>
    use(async ({ accounts }) => {
      const account = await openAccountIn(accounts, { maxTokens: 100 });
      const kept = await reserved(account, amountOf(20));
      const first = await reserved(account, amountOf(50));
      await first.settle(amountOf(30));
      await first.settle(amountOf(30));
      expectState(account, amountOf(30), amountOf(20));
      await kept.settle(amountOf(0));
    }));
}

function openingSuite(use: UseAccounts): void {
  it("begins with the usage of earlier executions", () =>
    use(async ({ accounts }) => {
      const account = await openAccountIn(accounts, {
        maxTokens: 100,
        earlier: amountOf(90, 0.25),
      });
      expectState(account, amountOf(90, 0.25), amountOf(0));
      await refused(account, amountOf(11));
      await reserved(account, amountOf(10));
    }));
  it("keeps accounts apart", () =>
    use(async ({ accounts }) => {
      const [first, second] = [
        await openAccountIn(accounts, { maxTokens: 100 }),
        await openAccountIn(accounts, { maxTokens: 100, key: "run:contract/budget:1" }),
      ];
      await reserved(first, amountOf(100));
      await reserved(second, amountOf(100));
    }));
  it("reserves no more than the limit for many concurrent requests", () =>
    use(async ({ accounts }) => {
      const account = await openAccountIn(accounts, { maxTokens: 100 });
      const asks = Array.from({ length: 20 }, async () => account.reserve(amountOf(10)));
      const given = (await Promise.all(asks)).filter((answer) => answer !== undefined);
      assert.equal(given.length, 10);
    }));
}

function sharedSuite(use: UseAccounts): void {
  it("includes the usage and reservations of other processes in a refusal", () =>
    use(async (subject) => {
      const { here, there } = await pairOf(subject, { maxTokens: 100 });
      await (await reserved(here, amountOf(50))).settle(amountOf(30));
      await reserved(here, amountOf(20));
      await refused(there, amountOf(51));
      expectState(there, amountOf(30), amountOf(20));
      await reserved(there, amountOf(50));
    }));
  it("includes the usage and reservations of other processes in a refresh", () =>
    use(async (subject) => {
      const { here, there } = await pairOf(subject, { maxTokens: 100 });
      const first = await reserved(here, amountOf(50, 0.5));
      await sharedOf(there).refresh();
      expectState(there, amountOf(0), amountOf(50, 0.5));
      await first.settle(amountOf(30, 0.25));
      await sharedOf(there).refresh();
      expectState(there, amountOf(30, 0.25), amountOf(0));
    }));
  it("grants the last part to only one of two processes that request it at once", () =>
    use(async (subject) => {
      const { here, there } = await pairOf(subject, { maxTokens: 100 });
      await reserved(here, amountOf(40));
      const asks = [here, there].map(async (account) => account.reserve(amountOf(60)));
      const given = (await Promise.all(asks)).filter((answer) => answer !== undefined);
      assert.equal(given.length, 1);
    }));
  it("counts earlier executions once: the greater of the stored and the reported usage", () =>
    use(async ({ accounts, other }) => {
      if (other === undefined) return assert.fail("accounts that are shared need `other`");
      const here = await openAccountIn(accounts, { earlier: amountOf(30, 0.5) });
      await (await reserved(here, amountOf(50))).settle(amountOf(20));
      const same = await openAccountIn(other, { earlier: amountOf(40, 0.5) });
      expectState(same, amountOf(50, 0.5), amountOf(0));
      const more = await openAccountIn(other, { earlier: amountOf(40, 0.75) });
      expectState(more, amountOf(50, 0.75), amountOf(0));
    }));
  it("releases the reservations of a dead process, and keeps renewed ones", () =>
    use(async (subject) => {
      const { here, there } = await pairOf(subject, { maxTokens: 100 });
      const { leaseMs } = sharedOf(here);
      assert.ok(leaseMs > 0 && leaseMs <= LONGEST_LEASE_MS, "leaseMs is no time to wait for");
      const lost = await reserved(here, amountOf(60));
      const kept = await reserved(here, amountOf(40));
      for (let waitedMs = 0; there.state.reserved.tokens !== 40; waitedMs += leaseMs / 5) {
        assert.ok(waitedMs < 10 * leaseMs, "the reservation is kept, or the renewed one is not");
        await sharedOf(here).renew([kept]);
        await sleep(leaseMs / 5);
        await sharedOf(there).refresh();
      }
      await sharedOf(here).renew([lost, kept]);
      await reserved(there, amountOf(60));
      await lost.settle(amountOf(10));
      await kept.settle(amountOf(10));
      await sharedOf(there).refresh();
      expectState(there, amountOf(20), amountOf(60));
    }));
}

/**
 * Registers tests with the global `describe` and `it` of any runner that all `BudgetAccounts`
 * should pass.
 *
 * @example
 * budgetAccountContract("mine", { create: async () => ({ accounts: await openMine() }) });
 * @throws ValidationError for an unknown option.
 */
export function budgetAccountContract(name: string, options: BudgetAccountContractOptions): void {
  checkOptions("budgetAccountContract()", options, ["create", "shares"]);
  const use: UseAccounts = async (body) => {
    const subject = await options.create();
    try {
      await body(subject);
    } finally {
      await subject.dispose?.();
    }
  };
  describe(`budget account contract: ${name}`, () => {
    amountSuite(use);
    settlementSuite(use);
    openingSuite(use);
    if (options.shares === true) sharedSuite(use);
  });
}
