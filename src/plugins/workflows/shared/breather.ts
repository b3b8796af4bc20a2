import { setImmediate as nextTurn } from "node:timers/promises";

const STRIDE = 64;

/** Lets timers and sockets have their turn every few steps: tasks that never wait for anything would keep a long repetition from being cancelled. */
export async function breathe(step: number): Promise<void> {
  if (step % STRIDE === 0) await nextTurn();
}
