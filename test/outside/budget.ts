// A budget of tokens and cost in the form of a plugin of another package.
import type {
  AgentEnsembleError,
  ChatModel,
  HookRun,
  LlmCall,
  ModelRef,
  OutputAllowance,
  Plugin,
  UsageRecord,
} from "agentensemble";
import {
  BudgetExceededError,
  checkModel,
  createToken,
  definePlugin,
  isRefused,
  ModelCallError,
  priceOf,
  reject,
  replace,
  requireUsable,
  Tokens,
  ValidationError,
} from "agentensemble";

/** Limits of every run, together with the runs that join it. */
export interface RunBudgetOptions {
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly maxOutputTokensPerCall: number;
  readonly onExceeded?: "stop" | "reject" | { readonly downgradeTo: ModelRef };
}

/** An answer of fewer tokens is not requested. */
const LEAST_OUTPUT = 100;

/** Tokens of a message in addition to its text. */
const FRAME = 4;

interface Amount {
  readonly tokens: number;
  readonly cost: number;
}

const sum = (amounts: Iterable<Amount>): Amount =>
  [...amounts].reduce((a, b) => ({ tokens: a.tokens + b.tokens, cost: a.cost + b.cost }), {
    tokens: 0,
    cost: 0,
  });

/** The demand of one call. */
interface Demand {
  readonly call: LlmCall;
  readonly input: number;
  readonly wanted: number;
}

/** A call in flight, or a refused call. The object is passed as the allowance of the call. */
class Reservation implements OutputAllowance {
  error: AgentEnsembleError | undefined;
  constructor(
    readonly demand: Demand,
    readonly model: ChatModel,
    readonly maxOutputTokens: number,
  ) {}
}

/** The usage of one run and of the runs that joined it. */
class Account {
  readonly runs = new Set<HookRun>();
  readonly held = new Map<Reservation, Amount>();
  readonly cheaper: ChatModel | undefined;
  used: Amount = sum([]);
  closed: BudgetExceededError | undefined;

  constructor(
    readonly owner: HookRun,
    readonly limits: RunBudgetOptions,
  ) {
    const { maxCost, onExceeded } = limits;
    if (maxCost !== undefined && owner.find(Tokens.CostConfiguration) === undefined)
      throw new ValidationError("The budget's maxCost needs a costConfiguration");
    if (typeof onExceeded !== "object") return;
    this.cheaper = owner.resolveModel(onExceeded.downgradeTo);
    requireUsable("The budget's downgradeTo", this.cheaper, owner.find(Tokens.ModelCheck));
  }

  amount(call: LlmCall, model: ChatModel, inputTokens: number, outputTokens: number): Amount {
    const prices = this.owner.find(Tokens.CostConfiguration);
    const { run, taskId, agentRole, purpose, attempt } = call;
    const { provider, modelId } = model;
    const counts = { inputTokens, outputTokens, cachedInputTokens: 0, reasoningTokens: 0 };
    const place = { runId: run.id, tags: run.tags, taskId, agentRole, purpose, attempt };
    const end = { latencyMs: 0, outcome: "ok" } as const;
    const usage: UsageRecord = { ...place, provider, modelId, ...counts, ...end };
    const cost = prices === undefined ? 0 : (priceOf(prices, usage).cost ?? Infinity);
    return { tokens: inputTokens + outputTokens, cost };
  }

  /** The limit that a call would exceed in addition to `others`. */
  exceededBy(call: Amount, others: Iterable<Amount>): "maxTokens" | "maxCost" | undefined {
    const { tokens, cost } = sum([this.used, call, ...others]);
    const { maxTokens = Infinity, maxCost = Infinity } = this.limits;
    return tokens > maxTokens ? "maxTokens" : cost > maxCost + 1e-9 ? "maxCost" : undefined;
  }

  /**
   * The output tokens that a call may use, at most the requested number; -1 if its input does not
   * fit.
   */
  room({ call, input, wanted }: Demand, model: ChatModel, others: Iterable<Amount>): number {
    const fits = (output: number): boolean =>
      this.exceededBy(this.amount(call, model, input, output), others) === undefined;
    if (fits(wanted)) return wanted;
    let [low, high] = [-1, wanted];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (fits(middle)) low = middle;
      else high = middle;
    }
    return low;
  }

  exceed(call: LlmCall, needed: Amount): BudgetExceededError {
    const limit = this.exceededBy(needed, []) ?? "maxTokens";
    const error = (): BudgetExceededError =>
      new BudgetExceededError(`Budget ${limit} exceeded by ${call.agentRole}`, limit);
    if (this.closed !== undefined) return error();
    const rejects = this.limits.onExceeded === "reject";
    this.announce(call, limit, rejects ? "reject" : "stop");
    if (rejects) return error();
    this.closed = error();
    for (const run of this.runs) run.stop(error());
    return error();
  }

  announce(
    { run, taskId, agentRole }: LlmCall,
    limit: "maxTokens" | "maxCost",
    action: "stop" | "reject" | "downgrade",
  ): void {
    const used = limit === "maxTokens" ? this.used.tokens : this.used.cost;
    const allowed = this.limits[limit] ?? Infinity;
    for (const to of new Set([run, this.owner]))
      to.emit({ type: "budget_exceeded", taskId, agentRole, limit, allowed, used, action });
  }
}

/** The budgets of a kernel, for plugins of the runs that join it. */
class Budget {
  readonly #accounts = new WeakMap<HookRun, Account>();
  constructor(readonly limits: RunBudgetOptions) {}

  accountOf(run: HookRun): Account {
    const account = this.#accounts.get(run) ?? new Account(run, this.limits);
    this.#accounts.set(run, account);
    return account;
  }
}
const Budgets = createToken<Budget>("acme/Budgets", "many");

/** The accounts of a run and of those that it joined. */
function accountsOf(run: HookRun): readonly Account[] {
  const own = run.all(Budgets).map((budget) => budget.accountOf(run));
  return run.parent === undefined ? own : [...own, ...accountsOf(run.parent)];
}

/**
 * Decides about a call: a reservation, or `undefined` if the call must wait for calls in flight.
 */
function admit(demand: Demand, accounts: readonly Account[]): Reservation | undefined {
  const { call, input, wanted } = demand;
  const least = Math.min(wanted, LEAST_OUTPUT);
  const roomOf = (model: ChatModel, waited: boolean): number =>
    Math.min(...accounts.map((a) => a.room(demand, model, waited ? [] : a.held.values())));
  const by = accounts.find(({ cheaper }) => cheaper !== undefined);
  const models = [call.model, ...(by?.cheaper === undefined ? [] : [by.cheaper])];
  let refused = accounts.find(({ closed }) => closed !== undefined);
  for (const model of refused === undefined ? models : []) {
    const [now, best] = [roomOf(model, false), roomOf(model, true)];
    const isLast = model === models.at(-1);
    if (now < wanted && now < best && (best >= wanted || (isLast && best >= least)))
      return undefined;
    if (now < (isLast ? least : wanted)) continue;
    if (model !== call.model) by?.announce(call, "maxCost", "downgrade");
    const reservation = new Reservation(demand, model, now);
    for (const account of accounts)
      account.held.set(reservation, account.amount(call, model, input, now));
    return reservation;
  }
  const needed = (account: Account): Amount =>
    account.amount(call, models.at(-1) ?? call.model, input, least);
  refused ??= accounts.find((account) => account.exceededBy(needed(account), []) !== undefined);
  const refusal = new Reservation(demand, call.model, 0);
  if (refused !== undefined) refusal.error = refused.exceed(call, needed(refused));
  return refusal;
}

/**
 * The limit of every run, together with the runs that join it with this plugin. A call beyond the
 * limit stops the run.
 */
export function runBudget(limits: RunBudgetOptions): Plugin {
  if (typeof limits.onExceeded === "object")
    checkModel("The budget's downgradeTo", limits.onExceeded.downgradeTo);
  /** By the outermost run: the last call, and the waiting calls. */
  const queues = new WeakMap<HookRun, Promise<unknown>>();
  const waiting = new Set<() => void>();

  const reserve = async (demand: Demand, accounts: readonly Account[]): Promise<Reservation> => {
    const { signal } = demand.call;
    for (;;) {
      signal.throwIfAborted();
      const reservation = admit(demand, accounts);
      if (reservation !== undefined) return reservation;
      await new Promise<void>((resolve) => {
        waiting.add(resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  };
  /** In the order in which the calls arrived. */
  const inTurn = (demand: Demand, accounts: readonly Account[]): Promise<Reservation> => {
    const first = accounts.at(-1)?.owner ?? demand.call.run;
    const turn = (queues.get(first) ?? Promise.resolve()).then(() => reserve(demand, accounts));
    queues.set(
      first,
      turn.catch(() => undefined),
    );
    return turn;
  };

  return definePlugin({
    name: "acme-budget",
    bind: (bind) => void bind.many(Budgets).toConstantValue(new Budget(limits)),
    apply({ hooks }) {
      hooks.beforeRun.tap({ name: "open", lane: "policy", order: "post" }, ({ run }) => {
        for (const account of accountsOf(run)) account.runs.add(run);
        const closed = accountsOf(run).find((account) => account.closed !== undefined)?.closed;
        return closed === undefined ? undefined : reject(closed);
      });
      hooks.afterRun.tap({ name: "close" }, ({ run }) => {
        for (const account of accountsOf(run)) account.runs.delete(run);
      });
      hooks.beforeLlmCall.tap(
        { name: "reserve", lane: "transform", order: "post" },
        async (call) => {
          const accounts = accountsOf(call.run);
          const counter = call.run.get(Tokens.TokenCounter);
          let input = 0;
          for (const { content } of call.request.messages)
            input += (await counter.count(JSON.stringify(content))) + FRAME;
          const wanted = call.request.maxOutputTokens ?? limits.maxOutputTokensPerCall;
          const allowance = await inTurn({ call, input, wanted }, accounts);
          return replace({ allowance, model: allowance.model });
        },
      );
      hooks.beforeLlmCall.tap({ name: "judge", lane: "policy", order: "pre" }, ({ allowance }) =>
        allowance instanceof Reservation && allowance.error !== undefined
          ? reject(allowance.error)
          : undefined,
      );
      hooks.afterLlmCall.tap({ name: "settle", lane: "transform", order: "pre" }, async (call) => {
        const { run, allowance, outcome, response, error } = call;
        if (!(allowance instanceof Reservation)) return;
        const isFree = outcome === "answered" || outcome === "rejected" || isRefused(error);
        const partial = ModelCallError.isInstance(error) ? (error.partialText ?? "") : "";
        const output = response?.usage?.outputTokens ?? allowance.maxOutputTokens;
        const outputTokens =
          outcome === "ok" ? output : await run.get(Tokens.TokenCounter).count(partial);
        const inputTokens = response?.usage?.inputTokens ?? allowance.demand.input;
        for (const account of accountsOf(run)) {
          account.held.delete(allowance);
          const used = account.amount(call, allowance.model, inputTokens, outputTokens);
          if (!isFree) account.used = sum([account.used, used]);
        }
        for (const go of waiting) go();
        waiting.clear();
      });
    },
  });
}
