import { Cancellation } from "./cancellation.js";
import { startTimer } from "./timer.js";

/** A source of an abort. */
export type Ender = AbortSignal | Cancellation;

/** How a wait ended: the work settled, the time limit passed, or the signal was aborted. */
export type WaitEnd = "done" | "late" | "aborted";

const NOTHING = (): void => undefined;

/**
 * Calls `fn` once at the abort, or immediately if already aborted. Returns a function that removes
 * `fn`.
 */
function onEnd(ender: Ender | undefined, fn: () => void): () => void {
  if (ender === undefined) return NOTHING;
  if (ender instanceof Cancellation) {
    ender.onCancel(fn);
    return () => ender.forget(fn);
  }
  if (ender.aborted) {
    fn();
    return NOTHING;
  }
  ender.addEventListener("abort", fn, { once: true });
  return () => ender.removeEventListener("abort", fn);
}

/** Returns the reason unchanged. The reason may be any value. */
function abortReason(ender: Ender | undefined): Error {
  return ender?.reason as Error;
}

/**
 * Resolves or rejects like `work`. After an abort, `work` has `graceMs` milliseconds to settle, or
 * no time if `graceMs` is undefined. After that, the result rejects with the reason of the abort.
 * `work` itself continues.
 */
export function settleWithin<T>(
  work: PromiseLike<T>,
  ender: Ender | undefined,
  graceMs?: number,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let stopGrace: (() => void) | undefined;
    // The first call, at the abort, starts the grace period. The second call, at its end, rejects.
    // One closure for both, because every task and model call waits here.
    const onAbortOrGraceEnd = (): void => {
      const isGraceOver = graceMs === undefined || stopGrace !== undefined;
      if (isGraceOver) reject(abortReason(ender));
      else stopGrace = startTimer(graceMs, onAbortOrGraceEnd);
    };
    const release = onEnd(ender, onAbortOrGraceEnd);
    const stopWaiting = (): void => {
      release();
      stopGrace?.();
    };
    Promise.resolve(work).then(
      (value) => {
        stopWaiting();
        resolve(value);
      },
      (error: unknown) => {
        stopWaiting();
        reject(error);
      },
    );
  });
}

/** Resolves after `ms` milliseconds. Rejects with the reason on an abort. */
export function sleep(ms: number, ender?: Ender): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const stop = startTimer(ms, () => {
      release();
      resolve();
    });
    const release = onEnd(ender, () => {
      stop();
      reject(abortReason(ender));
    });
  });
}

/**
 * Resolves with the first event. Never rejects: failed work counts as done. If the signal has
 * already aborted, the abort is the first event.
 */
export function firstEnding(
  work: PromiseLike<unknown>,
  { timeoutMs, signal }: { readonly timeoutMs?: number; readonly signal?: Ender | undefined },
): Promise<WaitEnd> {
  return new Promise<WaitEnd>((resolve) => {
    const end = (ending: WaitEnd): void => {
      stop?.();
      resolve(ending);
      release();
    };
    const stop = timeoutMs === undefined ? undefined : startTimer(timeoutMs, () => end("late"));
    let release = NOTHING;
    release = onEnd(signal, () => end("aborted"));
    const done = (): void => end("done");
    Promise.resolve(work).then(done, done);
  });
}

/** Limits of one piece of work. */
export interface TimeLimit<L> {
  /** Milliseconds. `Infinity`: no limit. */
  readonly ms: number;
  /** Returns the result at the time limit. May throw. */
  readonly late: () => L;
  /** Also ends the work. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Creates the error after an abort of `signal`. Default: the signal's reason. The signal that
   * `work` receives always has the reason of `signal`.
   */
  readonly ended?: (() => Error) | undefined;
}

/**
 * Resolves with the result of `work` within the limit, else with the result of `late`. The signal
 * of `work` is aborted at the limit and with `signal`. The function does not wait for `work` then.
 * Does not start `work` if `signal` is already aborted.
 * @throws the error of `work`; the error of `signal`.
 */
export async function withTimeout<T, L>(
  work: (signal: AbortSignal) => T | PromiseLike<T>,
  { ms, late, signal, ended }: TimeLimit<L>,
): Promise<T | L> {
  const limit = new Cancellation();
  if (signal !== undefined) limit.follow(signal);
  if (limit.reason !== undefined) throw ended?.() ?? limit.reason;
  let isLate = false;
  limit.expire(ms, () => {
    isLate = true;
    return new Error(`not done within ${ms} ms`);
  });
  try {
    const begin = async (): Promise<T> => work(limit.signal);
    return await settleWithin(begin(), limit);
  } catch (error) {
    if (limit.reason === undefined || error !== limit.reason) throw error;
    if (isLate) return late();
    throw ended?.() ?? error;
  } finally {
    limit.dispose();
  }
}
