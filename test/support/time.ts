/** Resolves after `ms` milliseconds; due timers and callbacks run first. */
export function pause(ms = 0): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Resolves when a condition is true. Rejects with `problem` after `limitMs`. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  problem: () => string = () => `waited in vain for: ${String(holds)}`,
  limitMs = 30_000,
): Promise<void> {
  const began = performance.now();
  while (!(await holds())) {
    if (performance.now() - began > limitMs) throw new Error(problem());
    await pause(5);
  }
}

/**
 * Ends every time limit immediately that is set later. `restore` ends this; `limitsMs` contains the
 * limits.
 */
export function endLimitsAtOnce(): { readonly limitsMs: (number | undefined)[]; restore(): void } {
  const waiting = globalThis.setTimeout;
  const limitsMs: (number | undefined)[] = [];
  const impatient = (callback: () => void, ms?: number): NodeJS.Timeout => {
    limitsMs.push(ms);
    return waiting(callback, 0);
  };
  globalThis.setTimeout = impatient as typeof setTimeout; // used with a callback and a time only
  return { limitsMs, restore: () => void (globalThis.setTimeout = waiting) };
}
