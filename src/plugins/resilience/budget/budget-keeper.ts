import type { ChatResponse } from "../../../contracts/chat-model.js";
import type { After, LlmCall, Reject, Replace, RunCall } from "../../../contracts/hooks.js";
import type { HookRun } from "../../../contracts/run.js";
import type { SpendingGrant, SpendingGuard, SpendingRequest } from "../../../contracts/spending.js";
import type { Awaitable } from "../../../contracts/types.js";
import type { Account } from "./account.js";
import type { Accounts, Charge } from "./attempt.js";
import { ValidationError } from "../../../contracts/errors.js";
import { reject, replace } from "../../../contracts/hooks.js";
import { Tokens } from "../../../contracts/tokens.js";
import { createToken } from "../../../contracts/token.js";
import { AbortWatch } from "../../../util/abort/abort-watch.js";
import { allOf, passOn, recovered } from "../../../util/awaitable.js";
import { messageOf } from "../../../util/errors.js";
import { RequestTokens } from "../shared/request-tokens.js";
import { withoutResponseFormat } from "../shared/without-response-format.js";
import { attempt, caughtUp } from "./attempt.js";
import { Budgets } from "./budget.js";
import { checkSpending, type Grant, openGrant } from "./grant.js";
import { Demand } from "./demand.js";
import { exceed, excess } from "./exceeded.js";
import { Refusal, Reservation } from "./reservation.js";
import { Meter } from "./meter.js";
import { advance } from "./queue.js";
import { settleCall } from "./settlement.js";
import { WaitingDemand } from "./waiting-call.js";

type RequestPatch = Replace<Partial<Pick<LlmCall, "request" | "model" | "allowance">>>;

/** The accounts that a run's calls are charged to. */
interface Lineage {
  readonly all: readonly Account[];
  /** The accounts that limit tokens or cost. */
  readonly limited: readonly Account[];
}

const FREE: Lineage = Object.freeze({ all: [], limited: [] });

/**
 * Keeps the budgets of runs and of the runs they joined. A call reserves its maximum usage before
 * its start. It settles afterwards. Parallel calls therefore can't exceed a limit together. If only
 * reservations prevent a call, it waits for them. Runs without a budget cause no work.
 */
export class BudgetKeeper implements SpendingGuard {
  readonly #lineages = new WeakMap<HookRun, Lineage>();
  readonly #tokens = new RequestTokens();
  readonly #aborts = new AbortWatch();
  /** Unsettled grants. */
  readonly #grants = new WeakMap<HookRun, Set<Grant>>();
  readonly #ended = new WeakSet<HookRun>();

  /**
   * Called when a run begins. Budgets can't be added later. Returns a promise only for an account
   * in external storage.
   * @throws ValidationError for a limit that can't be enforced; BudgetExceededError if a run that
   * it joined has been stopped; LimitStoreError.
   */
  open({ run }: RunCall): Awaitable<void> {
    const accounts = accountsOf(run);
    if (accounts.length === 0) return undefined;
    return passOn(allOf(accounts), (all) => this.#begin(run, all));
  }

  /** Called when a run has ended. Remaining reservations for others count as used. Never throws. */
  close({ run }: RunCall): Awaitable<void> {
    this.#ended.add(run);
    const { all } = this.#lineageOf(run);
    const grants = [...(this.#grants.get(run) ?? [])];
    if (all.length === 0 && grants.length === 0) return undefined;
    const settled = passOn(allOf(grants.map((grant) => grant.expire())), () =>
      recovered(
        () => caughtUp(all),
        (error) => run.warn(`What this run used is missing in its budget: ${messageOf(error)}`),
      ),
    );
    return passOn(settled, () => {
      for (const account of all) {
        account.runs.delete(run);
        if (account.owner === run) account.close();
      }
    });
  }

  /**
   * Reserves a part of the budgets of the run for external work.
   * @throws BudgetExceededError, ValidationError, LimitStoreError
   */
  grant(run: HookRun, request: SpendingRequest): Awaitable<SpendingGrant> {
    checkSpending(request);
    if (this.#ended.has(run)) throw runHasEnded();
    return passOn(openGrant(this.#lineageOf(run).all, request), (grant) => this.#keep(run, grant));
  }

  /**
   * The last of all transforms. It reserves, waits if that can help, and selects model and
   * allowance.
   * @throws the reason of the signal if it ends the wait.
   */
  reserve(call: LlmCall): Awaitable<RequestPatch | undefined> {
    const { limited } = this.#lineageOf(call.run);
    if (!isSome(limited) || call.model.capabilities?.exemptFromBudgets === true) return undefined;
    const tokens = this.#tokens.of(call.request, call.run.get(Tokens.TokenCounter));
    return typeof tokens === "number"
      ? this.#reserve(call, limited, tokens)
      : Promise.resolve(tokens).then((n) => this.#reserve(call, limited, n));
  }

  /**
   * The first of all policies. A refused call needs no other decision and waits for no rate limit.
   */
  judge(call: LlmCall): Reject | undefined {
    return call.allowance instanceof Refusal ? reject(call.allowance.error) : this.#checkOver(call);
  }

  /**
   * The last of all policies. Other policies may have waited for a long time, and the runs may have
   * been stopped during the wait.
   */
  begin(call: LlmCall): Reject | undefined {
    const verdict = this.#checkOver(call);
    if (verdict === undefined && call.allowance instanceof Reservation) call.allowance.begun = true;
    return verdict;
  }

  /** Called after a call with any outcome. */
  settle(call: After<LlmCall, "response", ChatResponse>): Awaitable<void> {
    const { allowance: reservation } = call;
    if (!(reservation instanceof Reservation)) return undefined;
    reservation.unwatch();
    return passOn(settleCall(call, reservation), () => advance(reservation.accounts));
  }

  #begin(run: HookRun, all: readonly Account[]): void {
    const limited = all.filter(
      ({ limits }) => limits.maxTokens !== undefined || limits.maxCost !== undefined,
    );
    this.#lineages.set(run, { all, limited });
    for (const account of all)
      if (account.closedBy !== undefined) throw excess(account, account.closedBy);
    for (const account of all) account.runs.add(run);
    for (const account of all) if (account.owner === run) measure(account);
  }

  #keep(run: HookRun, grant: Grant): Awaitable<Grant> {
    if (this.#ended.has(run))
      return passOn(grant.settle({ tokens: 0 }), () => {
        throw runHasEnded();
      });
    const grants = this.#grants.get(run) ?? new Set();
    this.#grants.set(run, grants.add(grant));
    grant.onSettled = () => void grants.delete(grant);
    return grant;
  }

  #lineageOf(run: HookRun): Lineage {
    return this.#lineages.get(run) ?? FREE;
  }

  #reserve(call: LlmCall, accounts: Accounts, inputTokens: number): Awaitable<RequestPatch> {
    call.signal.throwIfAborted();
    const demand = new Demand(call, inputTokens, wantedBy(call, accounts));
    const overtakes = accounts.some(
      (account) =>
        account.owner !== call.run &&
        [...account.reservations.keys()].some((other) => other.mayWaitFor(call.run)),
    );
    const mayGo = overtakes || accounts.every(({ waiting }) => waiting.size === 0);
    return passOn(attempt(demand, accounts, mayGo), (charge) =>
      charge === undefined
        ? this.#wait(new WaitingDemand(demand, accounts, overtakes))
        : this.#patch(call, charge),
    );
  }

  async #wait(waiting: WaitingDemand): Promise<RequestPatch> {
    const { call } = waiting.demand;
    const unwatch = this.#onAbort(call, () => {
      waiting.giveUp(call.signal.reason);
      advance(waiting.accounts);
    });
    advance(waiting.accounts); // others may have settled during the query of an account
    try {
      return this.#patch(call, await waiting.outcome);
    } finally {
      unwatch();
    }
  }

  #patch(call: LlmCall, charge: Charge): RequestPatch {
    if (charge instanceof Reservation) {
      // A tap that never returns would keep the reservation forever. A call that has begun ends by
      // itself.
      charge.unwatch = this.#onAbort(call, () => {
        if (!charge.begun) void passOn(charge.release(), () => advance(charge.accounts));
      });
    }
    return patchOf(call, charge);
  }

  /** Calls `end` when the signal of the call aborts, or at once if it has aborted. */
  #onAbort({ signal }: LlmCall, end: () => void): () => void {
    if (!signal.aborted) return this.#aborts.on(signal, end);
    end();
    return () => undefined;
  }

  #checkOver(call: LlmCall): Reject | undefined {
    for (const account of this.#lineageOf(call.run).all) {
      const limit = account.over;
      if (limit !== undefined) return reject(exceed(call, account, limit));
    }
    return undefined;
  }
}

function runHasEnded(): ValidationError {
  return new ValidationError("grant() needs a run in progress, but this run has ended");
}

/** Returns the budgets of the run, followed by the budgets of the runs that it joined. */
function accountsOf(run: HookRun): readonly Awaitable<Account>[] {
  const all: Awaitable<Account>[] = [];
  for (let owner: HookRun | undefined = run; owner !== undefined; owner = owner.parent) {
    const bearer = owner;
    owner.all(Budgets).forEach((budget, position) => all.push(budget.accountOf(bearer, position)));
  }
  return all;
}

/** Starts to emit the state of a run's budget. */
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

/** Bound if budgets are enforced. Without the plugin they would be ignored. */
export const BudgetKeeping = createToken<BudgetKeeper>("resilience/BudgetKeeping");
