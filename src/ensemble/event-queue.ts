import type { EnsembleEvent } from "../contracts/events.js";
import { AgentEnsembleError } from "../contracts/errors.js";

/**
 * From this number of waiting events on, tokens of one task are merged, because the reader is slow.
 */
const JOIN_FROM = 1_024;
/** Number of waiting events at which the reader is disconnected. The run continues. */
const HARD_LIMIT = 100_000;

/**
 * The events of a run as an async iterable with a bounded buffer. The iteration ends with the run.
 * If the reader leaves the loop early, only the listener is removed.
 */
export class EventQueue implements AsyncIterable<EnsembleEvent> {
  /** The waiting events. The slot of an event that was read is empty. */
  #events: (EnsembleEvent | undefined)[] = [];
  #read = 0;
  #ended = false;
  #error: AgentEnsembleError | undefined;
  #waiting: {
    readonly resolve: (result: IteratorResult<EnsembleEvent, undefined>) => void;
    readonly reject: (error: Error) => void;
  }[] = [];

  push(event: EnsembleEvent): void {
    if (this.#ended) return;
    const reader = this.#waiting.shift();
    if (reader !== undefined) {
      reader.resolve({ done: false, value: event });
      return;
    }
    const waiting = this.#events.length - this.#read;
    const joined = waiting >= JOIN_FROM ? joinedEvent(this.#events.at(-1), event) : undefined;
    if (joined !== undefined) this.#events[this.#events.length - 1] = joined;
    else if (waiting >= HARD_LIMIT) {
      this.#error = new AgentEnsembleError(
        "AE_EVENTS_OVERFLOW",
        `The reader of the event stream is ${waiting} events behind`,
        {
          hint: "Read handle.events faster, or use a listener.",
        },
      );
      this.end();
    } else this.#events.push(event);
  }

  end(): void {
    this.#ended = true;
    for (const reader of this.#waiting.splice(0)) {
      if (this.#error === undefined) reader.resolve({ done: true, value: undefined });
      else reader.reject(this.#error);
    }
  }

  [Symbol.asyncIterator](): AsyncIterator<EnsembleEvent, undefined> {
    return { next: () => this.#take(), return: () => this.#leave() };
  }

  #take(): Promise<IteratorResult<EnsembleEvent, undefined>> {
    const value = this.#events[this.#read];
    if (value !== undefined) {
      this.#events[this.#read++] = undefined;
      if (this.#read >= 512 && this.#read * 2 >= this.#events.length) {
        this.#events = this.#events.slice(this.#read);
        this.#read = 0;
      }
      return Promise.resolve({ done: false, value });
    }
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #leave(): Promise<IteratorResult<EnsembleEvent, undefined>> {
    this.#events = [];
    this.#read = 0;
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }
}

/**
 * Merges two consecutive pieces of one text, or of one block of reasoning, into one event. Returns
 * `undefined` for other events.
 */
function joinedEvent(
  last: EnsembleEvent | undefined,
  event: EnsembleEvent,
): EnsembleEvent | undefined {
  if (last?.type === "token" && event.type === "token" && last.taskId === event.taskId)
    return { ...last, token: last.token + event.token };
  if (last?.type !== "reasoning_token" || event.type !== "reasoning_token") return undefined;
  return last.taskId === event.taskId && last.index === event.index
    ? { ...last, token: last.token + event.token }
    : undefined;
}
