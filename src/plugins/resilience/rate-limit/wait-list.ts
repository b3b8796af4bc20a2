import type { LlmCall } from "../../../contracts/hooks.js";
import type { WaitingCall } from "./waiting-call.js";

type Queue = Map<WaitingCall, () => void>;

/**
 * Waiting calls, each with a callback for its removal. They are sorted by priority. Calls of the
 * same priority are in the order of their arrival.
 */
export class WaitList implements Iterable<WaitingCall> {
  /** The highest priority first. */
  readonly #queues: Readonly<Record<NonNullable<LlmCall["priority"]>, Queue>> = {
    CRITICAL: new Map(),
    HIGH: new Map(),
    NORMAL: new Map(),
    LOW: new Map(),
  };
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(waiting: WaitingCall, onLeave: () => void): void {
    this.#queueOf(waiting).set(waiting, onLeave);
    this.#size++;
  }

  /** Removes a call and returns its callback. Returns `undefined` for a call that does not wait. */
  delete(waiting: WaitingCall): (() => void) | undefined {
    const queue = this.#queueOf(waiting);
    const onLeave = queue.get(waiting);
    if (queue.delete(waiting)) this.#size--;
    return onLeave;
  }

  /** Calls may be removed during the iteration. */
  *[Symbol.iterator](): Iterator<WaitingCall> {
    for (const queue of Object.values(this.#queues)) yield* queue.keys();
  }

  #queueOf({ call }: WaitingCall): Queue {
    return this.#queues[call.priority ?? "NORMAL"];
  }
}
