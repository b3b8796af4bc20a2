/** The longest delay of one Node.js timer, in ms: about 24.8 days. */
const LONGEST_MS = 2_147_483_647;

/**
 * Calls `fn` after `ms` milliseconds. Allows longer delays than one Node.js timer, and `Infinity`.
 * Keeps the process alive. Returns a function that stops the timer.
 */
export function startTimer(ms: number, fn: () => void): () => void {
  let left = ms;
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    const step = Math.min(left, LONGEST_MS);
    left -= step;
    timer = setTimeout(() => (left > 0 ? wait() : fn()), step);
  };
  wait();
  return () => clearTimeout(timer);
}
