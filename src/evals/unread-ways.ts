import type { TrialWay } from "./trial-way.js";

/** A run is about three times as large as its way. */
const MOST_UNREAD = 1_000;

/**
 * The ways of kept trials whose traces may not have been read. A way keeps its runs in memory until
 * it is read. If there are too many unread ways, the oldest way is read.
 */
export class UnreadWays {
  readonly #ways: TrialWay[] = [];
  #oldest = 0;

  constructor(readonly most = MOST_UNREAD) {}

  add(way: TrialWay): void {
    const replaced = this.#ways[this.#oldest];
    this.#ways[this.#oldest] = way;
    this.#oldest = (this.#oldest + 1) % this.most;
    if (replaced !== undefined) readSteps(replaced);
  }
}

function readSteps(way: TrialWay): void {
  try {
    Reflect.get(way, "conversations");
  } catch {
    // A kernel without traces: later reads of the way receive the error.
  }
}
