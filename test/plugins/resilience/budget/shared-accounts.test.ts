import type {
  BudgetAccount,
  BudgetAccounts,
  BudgetAmount,
  BudgetReservation,
  Clock,
  EnsembleOptions,
  Plugin,
  RunOptions,
  SharedBudget,
  SpentUsage,
} from "agentensemble";
import {
  Agent,
  BudgetExceededError,
  Ensemble,
  LimitStoreError,
  Task,
  Tokens,
  definePlugin,
} from "agentensemble";
import { budget, type BudgetOptions } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { LocalBudgetAccount } from "../../../../src/plugins/resilience/budget/local-accounts.js";
import type { HookRun } from "../../../../src/contracts/run.js";
import { runToEnd, type Ended } from "../../../support/kernel-fixtures.js";
import { SharedBudgets } from "../../../support/shared-budgets.js";
import { pause, until } from "../../../support/time.js";

/** Of every call here; each may put out 100 more. */
const INPUT = 20;
const CALL = INPUT + 100;
const KEY = "run:r1/budget:0";
const agent = new Agent({ role: "r", goal: "g", modelOptions: { maxOutputTokens: 100 } });
const tasks = (count: number): Task[] =>
  Array.from({ length: count }, (_, i) => new Task({ description: `Do ${i}`, agent }));

/** Uses the maximum number of tokens. */
const spending = (delayMs = 0): ScriptedModel =>
  new ScriptedModel(() => ({
    text: "x",
    delayMs,
    usage: { inputTokens: INPUT, outputTokens: 100 },
  }));

/** A clock whose sleeps end on request of the test. */
class SleepingClock implements Clock {
  readonly sleeps: { readonly ms: number; readonly wake: () => void }[] = [];
  now(): Date {
    return new Date(0);
  }
  monotonicMs(): number {
    return 0;
  }
  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((wake, reject) => {
      this.sleeps.push({ ms, wake });
      signal.addEventListener("abort", () => reject(signal.reason as Error));
    });
  }
}

/** One process: counts with `accounts`, and every message has ten tokens. */
const seeing = (accounts: BudgetAccounts, clock?: Clock): Plugin =>
  definePlugin({
    name: "process",
    bind(bind) {
      bind.single(Tokens.BudgetAccounts).toConstantValue(accounts);
      bind.single(Tokens.TokenCounter).toConstantValue({ count: () => 6 });
      if (clock !== undefined) bind.single(Tokens.Clock).toConstantValue(clock);
    },
  });

function run(
  accounts: BudgetAccounts,
  o: EnsembleOptions & { readonly limits?: BudgetOptions; readonly clock?: Clock } = {},
  runOptions: RunOptions = {},
): Promise<Ended> {
  const { limits = { maxTokens: 1_000 }, clock, ...options } = o;
  return runToEnd(
    {
      tasks: tasks(1),
      ...options,
      plugins: [budget(limits), seeing(accounts, clock), ...(options.plugins ?? [])],
    },
    { runId: "r1", ...runOptions },
  );
}

/** Another process that opens the same account and reserves a part of it. */
async function reservedBy(store: SharedBudgets, tokens: number, key = KEY) {
  const account = await store
    .client()
    .open({ key, maxTokens: 1_000, earlier: { tokens: 0, cost: 0 } });
  const reservation = await account.reserve({ tokens, cost: 0 });
  return reservation ?? expect.fail("there is room");
}

/** A run whose first call waits, since another process has reserved 900 of the 1,000 tokens. */
async function waitingRun(store = new SharedBudgets()) {
  const clock = new SleepingClock();
  const model = spending();
  const other = await reservedBy(store, 900);
  const ended = run(store.client(), { model, clock });
  await until(() => clock.sleeps.length === 1);
  return { store, clock, model, other, ended };
}

const all = {
  workflow: "PARALLEL",
  parallelErrorStrategy: "CONTINUE_ON_ERROR",
} as const satisfies EnsembleOptions;
const REJECT = { maxTokens: 1_000, onExceeded: "reject" } as const;

describe("a budget that several processes share", () => {
  it("applies to all of them together", async () => {
    const store = new SharedBudgets();
    const model = spending(1);
    const ends = await Promise.all(
      [1, 2, 3].map(() => run(store.client(), { ...all, limits: REJECT, model, tasks: tasks(5) })),
    );
    expect(model.requests).to.have.length(8); // of 15: 8 x 120 fit in 1,000
    expect(store.stateOf(KEY)).to.deep.equal({
      used: { tokens: 8 * CALL, cost: 0 },
      reserved: { tokens: 0, cost: 0 },
    });
    const finished = ends.flatMap(({ output }) => output.completedTasks);
    expect(finished).to.have.length(8);
  });

  it("grants its last part to only one of two simultaneous calls", async () => {
    const store = new SharedBudgets();
    const models = [spending(5), spending(5)];
    const limits = { maxTokens: CALL };
    const ends = await Promise.all(models.map((model) => run(store.client(), { limits, model })));
    expect(models.map(({ requests }) => requests.length).sort()).to.deep.equal([0, 1]);
    const errors = ends.flatMap(({ error }) => (error === undefined ? [] : [error]));
    expect(errors).to.have.length(1);
    expect(BudgetExceededError.isInstance(errors[0])).to.equal(true);
  });

  it("uses an account for each run and budget, with the same name in every process", async () => {
    const store = new SharedBudgets();
    await run(store.client(), { model: spending() });
    await run(store.client(), { model: spending() });
    await run(store.client(), { model: spending() }, { runId: "r2" });
    await run(store.client(), { model: spending(), limits: { maxDurationMs: 1_000 } });
    expect(store.keys).to.deep.equal([KEY, KEY, "run:r2/budget:0"]);
  });

  it("counts the usage of earlier executions once, in the account or by the run", async () => {
    const earlier = (tokens: number): Plugin =>
      definePlugin({
        name: "earlier",
        apply: ({ hooks }) =>
          hooks.beforeRun.tap({ name: "earlier", lane: "policy" }, ({ run: resumed }) => {
            const usage: SpentUsage = {
              provider: "p",
              modelId: "m",
              inputTokens: tokens,
              outputTokens: 0,
            };
            resumed.spent([usage]);
          }),
      });
    const usedAfter = async (execution: number, spent: number): Promise<number> => {
      const store = new SharedBudgets();
      for (let n = 1; n < execution; n++) await run(store.client(), { model: spending() });
      await run(store.client(), { model: spending(), plugins: [earlier(spent)] });
      return store.stateOf(KEY).used.tokens;
    };
    expect(await usedAfter(1, 300)).to.equal(300 + CALL);
    expect(await usedAfter(2, CALL)).to.equal(2 * CALL);
    expect(await usedAfter(2, 50)).to.equal(2 * CALL);
    expect(await usedAfter(2, 300)).to.equal(300 + CALL);
  });

  it("releases a call when another process has settled, checked four times a second", async () => {
    const { store, clock, model, other, ended } = await waitingRun();
    clock.sleeps[0]?.wake();
    await until(() => clock.sleeps.length === 2);
    expect(model.requests).to.deep.equal([]);
    await other.settle({ tokens: 10, cost: 0 });
    clock.sleeps[1]?.wake();
    expect((await ended).error).to.equal(undefined);
    expect(new Set(clock.sleeps.map(({ ms }) => ms))).to.deep.equal(new Set([250]));
    expect(store.stateOf(KEY).used.tokens).to.equal(10 + CALL);
  });

  it("waits for a dead process only until its lease ends", async () => {
    let nowMs = 0;
    const { clock, ended } = await waitingRun(new SharedBudgets(5_000, [], () => nowMs));
    nowMs = 5_000;
    clock.sleeps[0]?.wake();
    expect((await ended).error).to.equal(undefined);
  });

  it("refuses a waiting call if other processes have used up the budget", async () => {
    const { clock, model, other, ended } = await waitingRun();
    await other.settle({ tokens: 900, cost: 0 });
    clock.sleeps[0]?.wake();
    // 1,000 - 900 - 20 leave less than an answer is worth.
    expect(BudgetExceededError.isInstance((await ended).error)).to.equal(true);
    expect(model.requests).to.deep.equal([]);
  });

  it("renews the leases of calls in flight, and ends the renewals with the calls", async () => {
    const store = new SharedBudgets(30, [], () => 0);
    const model = new ScriptedModel(async () => {
      await until(() => store.renewals.length >= 2);
      return { text: "x", usage: { inputTokens: INPUT, outputTokens: 100 } };
    });
    expect((await run(store.client(), { model })).error).to.equal(undefined);
    expect(store.renewals.slice(0, 2)).to.deep.equal([1, 1]);
    await pause(0); // the store takes in a renewal that began before the end
    const { length } = store.renewals;
    await pause(40);
    expect(store.renewals).to.have.length(length);
  });

  it("reserves in all accounts of a call or in none", async () => {
    const store = new SharedBudgets();
    const clock = new SleepingClock();
    const inner = new Ensemble({
      model: spending(),
      tasks: tasks(1),
      plugins: [budget({ maxTokens: 1_000 }), seeing(store.client(), clock)],
    });
    let other: Awaited<ReturnType<typeof reservedBy>> | undefined;
    const joining = new Task({
      description: "Join after another process has taken nearly all",
      handler: async ({ run: parent }) => {
        other = await reservedBy(store, 950);
        return (await inner.run({}, { parent, runId: "in" })).raw;
      },
    });
    const ended = run(store.client(), { clock, tasks: [joining] });
    await until(() => clock.sleeps.length === 2); // one for each account
    expect(store.stateOf("run:in/budget:0").reserved.tokens).to.equal(0);
    await other?.settle({ tokens: 0, cost: 0 });
    for (const { wake } of clock.sleeps) wake();
    expect((await ended).error).to.equal(undefined);
    await inner.dispose();
    for (const key of [KEY, "run:in/budget:0"])
      expect(store.stateOf(key).used.tokens, key).to.equal(CALL);
  });

  it("is respected by all processes if the account answers synchronously", async () => {
    // The values that two kernels of one process may share.
    const account = new LocalBudgetAccount({
      maxTokens: 5 * CALL,
      earlier: { tokens: 0, cost: 0 },
    });
    const shared = { leaseMs: 60_000, renew: () => undefined, refresh: () => undefined };
    const both: BudgetAccount = {
      get state() {
        return account.state;
      },
      shared,
      reserve: (amount) => account.reserve(amount),
    };
    const models = [spending(2), spending(2)];
    const limits = { ...REJECT, maxTokens: 5 * CALL };
    await Promise.all(
      models.map((model) => run({ open: () => both }, { ...all, limits, model, tasks: tasks(4) })),
    );
    expect(models.flatMap(({ requests }) => requests)).to.have.length(5);
    expect(account.state.used.tokens).to.equal(5 * CALL);
  });
});

/** An account in memory, of which a test replaces a part. */
function accountsWith(
  change: (account: LocalBudgetAccount) => Partial<BudgetAccount>,
): BudgetAccounts {
  return {
    timeoutMs: 20,
    open: (request) => {
      const account = new LocalBudgetAccount(request);
      const whole: BudgetAccount = {
        get state() {
          return account.state;
        },
        reserve: (amount: BudgetAmount) => account.reserve(amount),
      };
      return Object.defineProperties(whole, Object.getOwnPropertyDescriptors(change(account)));
    },
  };
}

const never = (): Promise<never> => new Promise(() => undefined);
const gone = (): never => {
  throw new Error("the store is gone");
};
const goneLater = (): Promise<never> => Promise.reject(new Error("the store is gone"));

describe("a budget with a faulty account", () => {
  const broken: Readonly<Record<string, BudgetAccounts>> = {
    "can't be opened": { open: gone },
    "is never opened": { timeoutMs: 20, open: never },
    throws: accountsWith(() => ({ reserve: gone })),
    "fails later": accountsWith(() => ({ reserve: goneLater })),
    "never answers": accountsWith(() => ({ reserve: never })),
    "refuses an allowed amount": accountsWith(() => ({ reserve: () => undefined })),
    "later refuses an allowed amount": accountsWith(() => ({
      reserve: () => Promise.resolve(undefined),
    })),
  };
  for (const [what, accounts] of Object.entries(broken)) {
    it(`fails the run if the account ${what}, and calls no model`, async () => {
      const model = spending();
      const { error } = await run(accounts, { ...all, model, tasks: tasks(3) });
      expect(LimitStoreError.find(error)?.code).to.equal("AE_LIMIT_STORE");
      expect(model.requests).to.deep.equal([]);
    });
  }

  it("fails waiting calls if the account can't be read", async () => {
    const shared = { leaseMs: 60_000, renew: () => undefined };
    for (const refresh of [gone, goneLater, never]) {
      const model = spending();
      const clock = new SleepingClock();
      const full = { used: { tokens: 0, cost: 0 }, reserved: { tokens: 990, cost: 0 } };
      const accounts = accountsWith(() => ({ state: full, shared: { ...shared, refresh } }));
      const ended = run(accounts, { ...all, model, clock, tasks: tasks(2) });
      await until(() => clock.sleeps.length === 1);
      clock.sleeps[0]?.wake();
      expect(LimitStoreError.find((await ended).error)?.code).to.equal("AE_LIMIT_STORE");
      expect(model.requests).to.deep.equal([]);
    }
  });

  /** An account that settles if `fails` requests it. */
  const settling = (fails: () => boolean, used: BudgetAmount[]): BudgetAccounts =>
    accountsWith((account) => ({
      reserve: (amount) => {
        const reservation = account.reserve(amount);
        return (
          reservation && {
            settle: (real) => (fails() ? goneLater() : (used.push(real), reservation.settle(real))),
          }
        );
      },
    }));

  it("keeps an answer that it can't settle, and settles before the next call", async () => {
    const used: BudgetAmount[] = [];
    let failures = 1;
    const model = spending();
    const ended = await run(
      settling(() => failures-- > 0, used),
      { model, tasks: tasks(2) },
    );
    expect(ended.error).to.equal(undefined);
    expect(used.map(({ tokens }) => tokens)).to.deep.equal([CALL, CALL]);
    const warnings = ended.events.filter(({ type }) => type === "run_warning");
    expect(warnings).to.have.length(1);
  });

  it("makes no further call while the last call can't be settled", async () => {
    const used: BudgetAmount[] = [];
    const model = spending();
    const ended = await run(
      settling(() => true, used),
      { model, tasks: tasks(2) },
    );
    expect(LimitStoreError.find(ended.error)?.code).to.equal("AE_LIMIT_STORE");
    expect(ended.output.completedTasks).to.have.length(1);
    expect(model.requests).to.have.length(1);
    const warnings = ended.events.filter(({ type }) => type === "run_warning");
    expect(warnings).to.have.length(2); // when it happened, and at the end of the run
  });

  it("renews nothing after the end of the run, also with unsettled usage", async () => {
    let renewals = 0;
    const accounts = accountsWith((account) => ({
      reserve: (amount) => account.reserve(amount) && { settle: goneLater },
      shared: { leaseMs: 60, renew: () => (renewals++, never()), refresh: () => undefined },
    }));
    const model = new ScriptedModel(async () => (await until(() => renewals === 1), "x"));
    await run(accounts, { model });
    await pause(60); // the renewal that went on has failed
    expect(renewals).to.equal(1);
  });

  it("requests once for a waiting call, and returns a late answer after the call has failed", async () => {
    const clock = new SleepingClock();
    const settled: BudgetAmount[] = [];
    const answers: ((reservation: BudgetReservation) => void)[] = [];
    const zero = { tokens: 0, cost: 0 };
    let state = { used: zero, reserved: { tokens: 990, cost: 0 } };
    let works = true;
    const shared: SharedBudget = {
      leaseMs: 60_000,
      renew: () => undefined,
      refresh: () => {
        if (!works) gone();
        state = { used: zero, reserved: zero };
      },
    };
    const reserve: BudgetAccount["reserve"] = () => new Promise((give) => answers.push(give));
    const accounts: BudgetAccounts = {
      open: () => ({
        get state() {
          return state;
        },
        shared,
        reserve,
      }),
    };
    const ended = run(accounts, { model: spending(), clock });
    for (const looks of [1, 2, 3]) {
      await until(() => clock.sleeps.length === looks);
      works = looks < 3;
      clock.sleeps[looks - 1]?.wake();
    }
    expect(LimitStoreError.find((await ended).error)?.code).to.equal("AE_LIMIT_STORE");
    expect(answers).to.have.length(1);
    answers[0]?.({ settle: (used) => void settled.push(used) });
    await pause();
    expect(settled).to.deep.equal([zero]);
  });

  it("grants by the actual usage, or nothing while it is unknown", async () => {
    const model = new ScriptedModel(() => ({
      text: "x",
      usage: { inputTokens: INPUT, outputTokens: 10 },
    }));
    const granted = async (failures: number): Promise<unknown> => {
      let left = failures;
      const asking = new Task({
        description: "Have it done elsewhere",
        handler: async ({ run: info }) => {
          const guard = info.get(Tokens.SpendingGuard);
          const grant = await guard.grant(info as HookRun, {});
          await grant.settle({ tokens: 0 });
          return String(grant.maxTokens);
        },
      });
      const accounts = settling(() => left-- > 0, []);
      const { error, output } = await run(accounts, { model, tasks: [...tasks(1), asking] });
      return LimitStoreError.find(error)?.code ?? output.raw;
    };
    expect(await granted(1)).to.equal(String(1_000 - INPUT - 10));
    expect(await granted(2)).to.equal("AE_LIMIT_STORE");
  });

  it("never loses a waiting call, for any timing of an account that is not shared", async () => {
    for (let steps = 0; steps < 12; steps++) {
      const microtasks = async (): Promise<void> => {
        for (let n = 0; n < steps; n++) await Promise.resolve();
      };
      const accounts = accountsWith((account) => ({
        reserve: async (amount) => {
          const reservation = account.reserve(amount);
          await Promise.resolve();
          return (
            reservation && {
              settle: async (used) => (await microtasks(), reservation.settle(used)),
            }
          );
        },
      }));
      const limits = { ...REJECT, maxTokens: 3 * CALL };
      const ended = await run(accounts, { ...all, limits, model: spending(), tasks: tasks(4) });
      expect(ended.output.completedTasks, `${steps} steps`).to.have.length(3);
    }
  });

  it("fails a call if the account has no readable state", async () => {
    const model = spending();
    let reads = 0;
    const accounts = accountsWith((account) => ({
      get state() {
        return reads++ < 1 ? account.state : gone();
      },
    }));
    const { error } = await run(accounts, { model });
    expect(LimitStoreError.find(error)?.code).to.equal("AE_LIMIT_STORE");
    expect(model.requests).to.deep.equal([]);
  });

  it("fails before a model call if the answer of the account is invalid", async () => {
    const none = { tokens: 0, cost: 0 };
    const state = (used: unknown, reserved: unknown = none): object => ({
      state: { used, reserved },
    });
    const shared = (leaseMs: number): object => ({
      shared: { leaseMs, renew: () => undefined, refresh: () => undefined },
    });
    const odd: readonly object[] = [
      { reserve: undefined },
      { state: undefined },
      { state: {} },
      state({ tokens: Number.NaN, cost: 0 }),
      state({ tokens: -1_000_000, cost: 0 }),
      state({ tokens: "5", cost: 0 }),
      state(none, { tokens: 0 }),
      { reserve: () => true },
      { reserve: () => null },
      { reserve: () => Promise.resolve({}) },
      shared(0),
      shared(Number.NaN),
      { shared: {} },
    ];
    for (const parts of odd) {
      const model = spending();
      const { error } = await run(
        accountsWith(() => parts),
        { model },
      );
      expect(LimitStoreError.find(error)?.code, JSON.stringify(parts)).to.equal("AE_LIMIT_STORE");
      expect(model.requests).to.deep.equal([]);
    }
    const { error } = await run(
      { open: () => 7 as unknown as BudgetAccount }, // what a store in plain JavaScript may do
      { model: spending() },
    );
    expect(LimitStoreError.find(error)?.code).to.equal("AE_LIMIT_STORE");
  });

  it("returns a reservation whose state can't be read", async () => {
    const settled: BudgetAmount[] = [];
    let isOdd = false;
    const accounts = accountsWith((account) => ({
      get state() {
        return isOdd ? { ...account.state, used: { tokens: Number.NaN, cost: 0 } } : account.state;
      },
      reserve: () => {
        isOdd = true;
        return { settle: (used) => void settled.push(used) };
      },
    }));
    const model = spending();
    const { error } = await run(accounts, { model });
    expect(LimitStoreError.find(error)?.code).to.equal("AE_LIMIT_STORE");
    expect(model.requests).to.deep.equal([]);
    expect(settled[0]).to.deep.equal({ tokens: 0, cost: 0 });
  });

  it("returns a reservation that arrives after the end of the call", async () => {
    for (const ending of ["late", "cancelled"]) {
      const settled: BudgetAmount[] = [];
      const stop = new AbortController();
      const answers: (() => void)[] = [];
      const reserve: BudgetAccount["reserve"] = () =>
        new Promise((resolve) =>
          answers.push(() => resolve({ settle: (used) => void settled.push(used) })),
        );
      const accounts = accountsWith(() => ({ reserve }));
      const timeoutMs = ending === "late" ? 20 : 60_000;
      const ended = run({ ...accounts, timeoutMs }, { model: spending() }, { signal: stop.signal });
      await until(() => answers.length === 1);
      if (ending === "cancelled") stop.abort(new Error("enough"));
      const { error } = await ended;
      const code = ending === "late" ? "AE_LIMIT_STORE" : undefined;
      expect(LimitStoreError.find(error)?.code).to.equal(code);
      for (const answer of answers) answer();
      await pause();
      expect(settled).to.deep.equal([{ tokens: 0, cost: 0 }]);
    }
  });

  it("warns once if leases can't be renewed, and allows calls in progress to finish", async () => {
    const ended = await run(
      accountsWith((account) => ({
        reserve: (amount) => account.reserve(amount),
        shared: { leaseMs: 6, renew: goneLater, refresh: () => undefined },
      })),
      { model: spending(20) },
    );
    expect(ended.error).to.equal(undefined);
    const warnings = ended.events.filter(({ type }) => type === "run_warning");
    expect(warnings).to.have.length(1);
  });
});
