/** Resolves after `ms` milliseconds; timers and callbacks that are due go first. */
export function pause(ms = 0): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Resolves when a condition holds. Rejects with `problem` after `limitMs`. */
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

/** Ends every time limit at once that is set from here on. `restore` undoes that; `limitsMs` holds the limits. */
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
