import { Cancellation } from "./cancellation.js";
import { startTimer } from "./timer.js";

/** What ends a wait from outside. */
export type Ender = AbortSignal | Cancellation;

/** How a wait for work ended: the work settled, its time was up, or the signal was aborted. */
export type WaitEnd = "done" | "late" | "aborted";

const NOTHING = (): void => undefined;

/** Calls `fn` once when the wait is to end, immediately if it is already. Returns a function that takes `fn` back. */
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

/** The reason as it was given, which may be any value. */
function reasonOf(ender: Ender | undefined): Error {
  return ender?.reason as Error;
}

/**
 * Resolves or rejects with `work`. After an abort `work` has `graceMs` milliseconds to settle, or none when `graceMs` is undefined; then the result
 * rejects with the reason. `work` itself goes on.
 */
export function settleWithin<T>(
  work: PromiseLike<T>,
  ender: Ender | undefined,
  graceMs?: number,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let stopGrace: (() => void) | undefined;
    // Called when the wait is to end, and again when the grace is over: one closure, since every task and model call waits here.
    const abandon = (): void => {
      if (graceMs === undefined || stopGrace !== undefined) reject(reasonOf(ender));
      else stopGrace = startTimer(graceMs, abandon);
    };
    const release = onEnd(ender, abandon);
    const settled = (): void => {
      release();
      stopGrace?.();
    };
    Promise.resolve(work).then(
      (value) => {
        settled();
        resolve(value);
      },
      (error: unknown) => {
        settled();
        reject(error);
      },
    );
  });
}

/** Resolves after `ms` milliseconds; rejects with the reason on an abort. */
export function sleep(ms: number, ender?: Ender): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const stop = startTimer(ms, () => {
      release();
      resolve();
    });
    const release = onEnd(ender, () => {
      stop();
      reject(reasonOf(ender));
    });
  });
}

/** Resolves with what came first. Never rejects: work that fails is done, and an ender that is aborted already comes first. */
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

/** The limits of one piece of work. */
export interface TimeLimit<L> {
  /** Milliseconds; `Infinity` for no limit. */
  readonly ms: number;
  /** Makes the result of work that is late; may throw. */
  readonly late: () => L;
  /** Ends the work too. */
  readonly signal?: AbortSignal | undefined;
  /** Makes the error of a wait that `signal` ended. Default: the signal's reason, which the signal of `work` has in any case. */
  readonly ended?: (() => Error) | undefined;
}

/**
 * Resolves with what `work` returns within the limit, else with what `late` returns. The signal of `work` is aborted at the limit and with `signal`,
 * and neither waits for `work`. A signal that is aborted already starts no work.
 * @throws what `work` throws; the error of `signal`.
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
