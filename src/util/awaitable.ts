import { isThenable } from "./objects.js";

/** Whether `value` comes later. */
export function isLater<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return isThenable(value);
}

/** Passes `value` to `next`: at once, or when its promise resolves. Returns a promise only in the second case, or if `next` does. */
export function passOn<T, U>(
  value: T | PromiseLike<T>,
  next: (value: T) => U | PromiseLike<U>,
): U | PromiseLike<U> {
  return isLater(value) ? Promise.resolve(value).then(next) : next(value);
}

/** Returns the result of `work`, or that of `failed` with what `work` threw or rejected with. Returns a promise only if one of them does. */
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

/** Returns all values, as a promise only if one of them comes later. */
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
