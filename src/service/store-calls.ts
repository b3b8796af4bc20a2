import type { Clock } from "../contracts/runtime.js";
import { ValidationError } from "../contracts/errors.js";
import { NetworkError } from "../contracts/network-errors.js";
import { backoffMs, clockPause } from "../util/abort/pauses.js";

/** Delays in ms between attempts. */
const DELAYS = { firstMs: 250, mostMs: 60_000 };
/**
 * Number of failures, over several minutes, after which the availability of the store is checked.
 */
const PATIENCE = 10;
/** Number of failures of an available store after which the call counts as refused. */
const MOST_REFUSALS = 3;

/** The result of a call of a store: an answer, no answer, or a refusal. */
export type StoreAnswer<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "away" }
  | { readonly kind: "refused"; readonly error: unknown };

/** The repetitions of a call. */
export interface StoreCall {
  /** Limit of attempts. Default: no limit while the store does not respond. */
  readonly attempts?: number;
  /** Sends another query to the store. Resolves if the store is available. */
  readonly isThere?: () => Promise<unknown>;
}

/** Repeats calls of the stores while they fail. */
export class StoreCalls {
  readonly #clock: Clock;
  readonly #onFailure: (error: unknown) => void;
  readonly #givenUp = new AbortController();

  /** `onFailure` receives the first error of each call. */
  constructor(clock: Clock, onFailure: (error: unknown) => void) {
    this.#clock = clock;
    this.#onFailure = onFailure;
  }

  /** Aborted when calls are no longer repeated. */
  get givenUp(): AbortSignal {
    return this.#givenUp.signal;
  }

  giveUp(): void {
    this.#givenUp.abort();
  }

  async repeated<T>(work: () => Promise<T>, call: StoreCall = {}): Promise<StoreAnswer<T>> {
    const { attempts = Number.POSITIVE_INFINITY, isThere } = call;
    let refusals = 0;
    for (let failures = 1; ; failures++) {
      try {
        return { kind: "done", value: await work() };
      } catch (error) {
        if (failures === 1) this.#onFailure(error);
        if (isRefusal(error)) return { kind: "refused", error };
        if (failures > PATIENCE && (await isThereNow(isThere))) refusals++;
        if (refusals >= MOST_REFUSALS) return { kind: "refused", error };
        if (failures >= attempts || this.givenUp.aborted) return { kind: "away" };
      }
      await clockPause(this.#clock, backoffMs(failures, DELAYS), this.givenUp);
    }
  }
}

/** Returns whether the same call would fail again. */
function isRefusal(error: unknown): boolean {
  return ValidationError.isInstance(error) || NetworkError.find(error)?.isPermanent === true;
}

async function isThereNow(ask: StoreCall["isThere"]): Promise<boolean> {
  if (ask === undefined) return false;
  try {
    await ask();
    return true;
  } catch {
    return false;
  }
}
