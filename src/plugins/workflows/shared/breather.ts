import { setImmediate as nextTurn } from "node:timers/promises";

const STRIDE = 64;

/**
 * Returns control to the event loop every few steps. Otherwise tasks that never wait would prevent
 * the cancellation of a long repetition.
 */
export async function breathe(step: number): Promise<void> {
  if (step % STRIDE === 0) await nextTurn();
}
