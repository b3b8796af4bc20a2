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
