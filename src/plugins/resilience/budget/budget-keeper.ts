import type { ChatResponse } from "../../../contracts/chat-model.js";
import type { AgentEnsembleError } from "../../../contracts/errors.js";
import type { After, LlmCall, Reject, Replace, RunCall } from "../../../contracts/hooks.js";
import type { HookRun } from "../../../contracts/run.js";
import type { SpendingGrant, SpendingGuard, SpendingRequest } from "../../../contracts/spending.js";
import type { Awaitable } from "../../../contracts/types.js";
import type { Account } from "./account.js";
import type { LimitName } from "./amount.js";
import type { Admission } from "./decision.js";
import { reject, replace } from "../../../contracts/hooks.js";
import { Tokens } from "../../../contracts/tokens.js";
import { createToken } from "../../../contracts/token.js";
import { AbortWatch } from "../../../util/abort/abort-watch.js";
import { RequestTokens } from "../shared/request-tokens.js";
import { withoutResponseFormat } from "../shared/without-response-format.js";
import { Budgets } from "./budget.js";
import { checkSpending, Grant } from "./grant.js";
import { admit } from "./decision.js";
import { Demand } from "./demand.js";
import { announce, excess } from "./exceeded.js";
import { Refusal, Reservation } from "./reservation.js";
import { Meter } from "./meter.js";
import { settleCall } from "./settlement.js";
import { WaitingDemand } from "./waiting-call.js";

type RequestPatch = Replace<Partial<Pick<LlmCall, "request" | "model" | "allowance">>>;
type Accounts = readonly [Account, ...Account[]];

/** The accounts that a run's calls are charged to. */
interface Lineage {
  readonly all: readonly Account[];
  /** Those that limit tokens or cost. */
  readonly limited: readonly Account[];
}

const FREE: Lineage = Object.freeze({ all: [], limited: [] });

/**
 * Keeps the budgets of runs and of the runs they joined. A call reserves what it may use before it is made and settles afterwards, so that calls in
 * parallel can't go beyond a limit together; where only reservations are in the way it waits for them. It has nothing to do for runs without a budget.
 */
export class BudgetKeeper implements SpendingGuard {
  readonly #lineages = new WeakMap<HookRun, Lineage>();
  readonly #tokens = new RequestTokens();
  readonly #aborts = new AbortWatch();

  /** A run begins; what has no budget then has none. @throws ValidationError for a limit that can't be kept; BudgetExceededError where a run that it joined has been stopped. */
  open({ run }: RunCall): void {
    const lineage = lineageOf(run);
    if (lineage === FREE) return;
    this.#lineages.set(run, lineage);
    const { all } = lineage;
    for (const account of all)
      if (account.closedBy !== undefined) throw excess(account, account.closedBy);
    for (const account of all) account.runs.add(run);
    for (const account of all) if (account.owner === run) measure(account);
  }

  /** A run has ended. */
  close({ run }: RunCall): void {
    for (const account of this.#lineageOf(run).all) {
      account.runs.delete(run);
      if (account.owner === run) account.meter?.close();
    }
  }

  /** Sets a part of the run's budgets aside for work elsewhere. @throws BudgetExceededError, ValidationError */
  grant(run: HookRun, request: SpendingRequest): SpendingGrant {
    checkSpending(request);
    return new Grant(this.#lineageOf(run).all, request, (accounts) => this.#advance(accounts));
  }

  /** The last of all transforms: reserves, waiting where that helps, and chooses model and allowance. @throws the signal's reason when that ends the wait. */
  reserve(call: LlmCall): Awaitable<RequestPatch | undefined> {
    const { limited } = this.#lineageOf(call.run);
    if (!isSome(limited) || call.model.capabilities?.exemptFromBudgets === true) return undefined;
    const tokens = this.#tokens.of(call.request, call.run.get(Tokens.TokenCounter));
    return typeof tokens === "number"
      ? this.#reserve(call, limited, tokens)
      : Promise.resolve(tokens).then((n) => this.#reserve(call, limited, n));
  }

  /** The first of all policies: nobody needs to judge, and no rate limit to wait for, what is refused anyway. */
  judge(call: LlmCall): Reject | undefined {
    return call.allowance instanceof Refusal ? reject(call.allowance.error) : this.#checkOver(call);
  }

  /** The last of all policies: others may have waited long, and the runs may have been stopped meanwhile. */
  begin(call: LlmCall): Reject | undefined {
    const verdict = this.#checkOver(call);
    if (verdict === undefined && call.allowance instanceof Reservation) call.allowance.begun = true;
    return verdict;
  }

  /** After a call, whatever its outcome. */
  settle(call: After<LlmCall, "response", ChatResponse>): void | Promise<void> {
    const { allowance: reservation } = call;
    if (!(reservation instanceof Reservation)) return undefined;
    reservation.unwatch();
    const settled = settleCall(call, reservation);
    const next = (): void => this.#advance(reservation.accounts);
    return settled === undefined ? next() : settled.then(next);
  }

  #lineageOf(run: HookRun): Lineage {
    return this.#lineages.get(run) ?? FREE;
  }

  #reserve(call: LlmCall, accounts: Accounts, inputTokens: number): Awaitable<RequestPatch> {
    call.signal.throwIfAborted();
    const demand = new Demand(call, inputTokens, wantedBy(call, accounts));
    let decision: Admission;
    try {
      decision = admit(demand, accounts);
    } catch (error) {
      return patchOf(call, new Refusal(error as AgentEnsembleError)); // costOf throws nothing else
    }
    const overtakes = accounts.some(
      (account) =>
        account.owner !== call.run &&
        [...account.reservations.keys()].some((other) => other.mayWaitFor(call.run)),
    );
    const others = !overtakes && accounts.some((account) => account.waiting.size > 0);
    if (decision.kind === "exceeded" || (decision.kind === "go" && !others))
      return patchOf(call, this.#conclude(demand, accounts, decision));
    return this.#wait(
      new WaitingDemand(demand, accounts, overtakes, (...args) => this.#conclude(...args)),
    );
  }

  async #wait(waiting: WaitingDemand): Promise<RequestPatch> {
    const { call } = waiting.demand;
    const unwatch = this.#aborts.on(call.signal, () => {
      waiting.giveUp(call.signal.reason);
      this.#advance(waiting.accounts);
    });
    try {
      return patchOf(call, await waiting.outcome);
    } finally {
      unwatch();
    }
  }

  #conclude(
    demand: Demand,
    accounts: Accounts,
    decision: Exclude<Admission, { readonly kind: "wait" }>,
  ): Reservation | Refusal {
    const { call } = demand;
    if (decision.kind === "exceeded")
      return new Refusal(this.#exceed(call, decision.account, decision.limit, demand));
    if (decision.by !== undefined) announce(call, decision.by, "maxCost", "downgrade");
    const reservation = new Reservation(demand, decision.model, decision.outputTokens, accounts);
    // A tap that hangs would keep the reservation for ever; a call that has begun ends by itself.
    reservation.unwatch = this.#aborts.on(call.signal, () => {
      if (reservation.begun) return;
      reservation.release();
      this.#advance(accounts);
    });
    return reservation;
  }

  #checkOver(call: LlmCall): Reject | undefined {
    for (const account of this.#lineageOf(call.run).all) {
      const limit = account.over;
      if (limit !== undefined) return reject(this.#exceed(call, account, limit));
    }
    return undefined;
  }

  /** Tells it, and stops the runs where the budget says so; gives the error for the call. */
  #exceed(call: LlmCall, account: Account, limit: LimitName, demand?: Demand): AgentEnsembleError {
    const error = excess(account, limit, demand);
    if (account.closedBy !== undefined) return error;
    const { rejects } = account.limits;
    announce(call, account, limit, rejects ? "reject" : "stop");
    if (rejects) return error;
    account.closedBy = limit;
    for (const run of account.runs) run.stop(excess(account, limit, demand));
    this.#advance([account]);
    return error;
  }

  /** Lets those go on who can, in the order in which they came. */
  #advance(accounts: Iterable<Account>): void {
    const changed = new Set(accounts);
    for (const account of changed) {
      changed.delete(account); // comes back, and is looked at again, when one of its calls leaves
      for (const waiting of account.waiting)
        if (waiting.step()) for (const other of waiting.accounts) changed.add(other);
    }
  }
}

/** The budgets of the run itself first, then of those that it joined. */
function lineageOf(run: HookRun): Lineage {
  const all: Account[] = [];
  for (let owner: HookRun | undefined = run; owner !== undefined; owner = owner.parent) {
    for (const budget of owner.all(Budgets)) all.push(budget.accountOf(owner));
  }
  if (all.length === 0) return FREE;
  return {
    all,
    limited: all.filter(
      ({ limits }) => limits.maxTokens !== undefined || limits.maxCost !== undefined,
    ),
  };
}

/** Tells from now on how the budget of a run stands. */
function measure(account: Account): void {
  const meter = new Meter(account, account.owner.get(Tokens.Clock));
  account.meter = meter;
  meter.opened();
}

function isSome(accounts: readonly Account[]): accounts is Accounts {
  return accounts.length > 0;
}

function wantedBy({ request, allowance }: LlmCall, accounts: Accounts): number {
  const own =
    request.maxOutputTokens ??
    Math.min(...accounts.map(({ limits }) => limits.maxOutputTokensPerCall));
  return Math.min(own, allowance?.maxOutputTokens ?? own);
}

function patchOf(call: LlmCall, allowance: Reservation | Refusal): RequestPatch {
  if (allowance instanceof Refusal || allowance.model === call.model) return replace({ allowance });
  return replace({
    allowance,
    model: allowance.model,
    request: withoutResponseFormat(call.request, allowance.model),
  });
}

/** Whether budgets are kept: without that plugin they would be ignored. */
export const BudgetKeeping = createToken<BudgetKeeper>("resilience/BudgetKeeping");
