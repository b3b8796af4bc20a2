import type { Awaitable } from "../../../contracts/types.js";
import { LimitStoreError } from "../../../contracts/state-errors.js";
import { firstEnding } from "../../../util/abort/timeouts.js";
import { isLater } from "../../../util/awaitable.js";
import { messageOf } from "../../../util/errors.js";

/** The default time limit of an answer, in milliseconds. */
const ANSWER_MS = 10_000;

/** A call of a store. */
interface StoreQuestion<T> {
  /** Describes the call in errors: subject and verb. */
  readonly what: string;
  /** The time limit of the answer, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Ends the wait, but not the call. */
  readonly signal?: AbortSignal | undefined;
  /** Undoes an answer that arrives after the end of the wait. */
  readonly undo?: ((answer: T) => unknown) | undefined;
}

/**
 * Calls a store that counts for several processes. Returns a promise only if the store does.
 * @throws LimitStoreError if the store fails or is late; the reason of `signal`.
 */
export function storeAnswer<T>(ask: () => Awaitable<T>, question: StoreQuestion<T>): Awaitable<T> {
  let answer: Awaitable<T>;
  try {
    answer = ask();
  } catch (error) {
    throw storeFault(question.what, error);
  }
  return isLater(answer) ? laterAnswer(Promise.resolve(answer), question) : answer;
}

async function laterAnswer<T>(answer: Promise<T>, question: StoreQuestion<T>): Promise<T> {
  const { what, timeoutMs = ANSWER_MS, signal, undo } = question;
  const ending = await firstEnding(answer, { timeoutMs, signal });
  if (ending !== "done") {
    // If this fails, the lease expires.
    answer.then(undo).catch(() => undefined);
    signal?.throwIfAborted();
    throw new LimitStoreError(`${what} did not answer within ${timeoutMs} ms`);
  }
  try {
    return await answer;
  } catch (error) {
    signal?.throwIfAborted();
    throw storeFault(what, error);
  }
}

function storeFault(what: string, cause: unknown): LimitStoreError {
  return new LimitStoreError(`${what} failed: ${messageOf(cause)}`, { cause });
}
