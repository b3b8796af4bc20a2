import { isThenable } from "./objects.js";

/** Returns whether `value` is a promise. */
export function isLater<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return isThenable(value);
}

/**
 * Passes `value` to `next`, immediately or when its promise resolves. Returns a promise only if
 * `value` is a promise or `next` returns a promise.
 */
export function passOn<T, U>(
  value: T | PromiseLike<T>,
  next: (value: T) => U | PromiseLike<U>,
): U | PromiseLike<U> {
  return isLater(value) ? Promise.resolve(value).then(next) : next(value);
}

/**
 * Returns the result of `work`. If `work` throws or rejects, returns the result of `failed` with
 * the error. Returns a promise only if one of them does.
 */
export function recovered<T>(
  work: () => T | PromiseLike<T>,
  failed: (error: unknown) => T | PromiseLike<T>,
): T | PromiseLike<T> {
  try {
    const result = work();
    return isLater(result) ? Promise.resolve(result).catch(failed) : result;
  } catch (error) {
    return failed(error);
  }
}

/** Returns all values. Returns a promise only if one of them is a promise. */
export function allOf<T>(
  values: readonly (T | PromiseLike<T>)[],
): readonly T[] | Promise<readonly T[]> {
  const now: T[] = [];
  for (const value of values) {
    if (isLater(value)) return Promise.all(values);
    now.push(value);
  }
  return now;
}
