import type { NetworkBackend, WorkResponse } from "../../../contracts/network.js";
import type { StoredReview } from "../../../contracts/review.js";
import type { Clock } from "../../../contracts/runtime.js";
import { asFields } from "../../../util/objects.js";
import { startClockTimer } from "./clock-timer.js";
import { progressTopic } from "./topic-names.js";

/** Time in ms after which a result is queried, because notifications may be lost. */
const LOOK_MS = 15_000;
/**
 * Maximum number of progress events that wait for a slow client. Beyond it, the oldest event is
 * dropped.
 */
const MOST_WAITING = 100;

/** An event of a request. `gone` means that the store does not have the request any more. */
export type WatchEvent =
  | { readonly kind: "result"; readonly response: WorkResponse }
  | { readonly kind: "review"; readonly review: StoredReview }
  | { readonly kind: "progress"; readonly progress: unknown }
  | { readonly kind: "gone" };

/** The reviews of requests. */
export interface WatchedReviews {
  /** Calls `fn` with each review of a request. Returns a function that removes the callback. */
  on(requestId: string, fn: (review: StoredReview) => void): () => void;
}

/** The storage in which requests of one ensemble are watched. */
export interface WatchPlace {
  readonly ensemble: string;
  readonly backend: NetworkBackend;
  readonly clock: Clock;
  /** The reviews. If `undefined`, reviews are messages of the progress. */
  readonly reviews: WatchedReviews | undefined;
}

/** Follows one request until it has a result or the client disconnects. */
export class TaskWatch {
  readonly #place: WatchPlace;
  readonly #requestId: string;
  readonly #signal: AbortSignal;
  readonly #events: WatchEvent[] = [];
  readonly #leave: (() => void)[] = [];
  #wake: () => void = () => undefined;

  private constructor(place: WatchPlace, requestId: string, signal: AbortSignal) {
    this.#place = place;
    this.#requestId = requestId;
    this.#signal = signal;
  }

  /** Starts to watch a request. @throws NetworkError if the backend can't be reached. */
  static async open(
    place: WatchPlace,
    requestId: string,
    { signal, hears }: { readonly signal: AbortSignal; readonly hears: "all" | "questions" },
  ): Promise<TaskWatch> {
    const watch = new TaskWatch(place, requestId, signal);
    try {
      await watch.#subscribe(hears === "all");
      return watch;
    } catch (error) {
      watch.close();
      throw error;
    }
  }

  close(): void {
    for (const leave of this.#leave.splice(0)) leave();
  }

  /** Returns the next event. Returns `undefined` after the client has disconnected. */
  async next(): Promise<WatchEvent | undefined> {
    while (!this.#signal.aborted) {
      const event = this.#events.shift();
      if (event !== undefined) return event;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return undefined;
  }

  async #subscribe(hearsProgress: boolean): Promise<void> {
    const { backend, reviews } = this.#place;
    const wake = (): void => this.#wake();
    this.#signal.addEventListener("abort", wake, { once: true });
    this.#leave.push(() => this.#signal.removeEventListener("abort", wake));
    if (reviews !== undefined)
      this.#leave.push(
        reviews.on(this.#requestId, (review) => this.#add({ kind: "review", review })),
      );
    if (hearsProgress)
      this.#leave.push(
        await backend.topics.subscribe(progressTopic(this.#requestId), (progress) => {
          const isReview = asFields(progress)?.["type"] === "review_requested";
          // The review is a separate event.
          if (isReview && reviews !== undefined) return;
          this.#add({ kind: "progress", progress });
        }),
      );
    this.#leave.push(
      await backend.results.subscribe(this.#requestId, (response) =>
        this.#add({ kind: "result", response }),
      ),
    );
    this.#lookLater();
  }

  #add(event: WatchEvent): void {
    if (this.#events.length >= MOST_WAITING && event.kind === "progress") {
      const oldest = this.#events.findIndex(({ kind }) => kind === "progress");
      if (oldest !== -1) this.#events.splice(oldest, 1);
    }
    this.#events.push(event);
    this.#wake();
  }

  #lookLater(): void {
    let isOver = false;
    let stop: () => void = () => undefined;
    const look = async (): Promise<void> => {
      const { backend, ensemble } = this.#place;
      try {
        const response = await backend.results.retrieve(this.#requestId);
        if (isOver) return;
        if (response !== undefined) return this.#add({ kind: "result", response });
        const state = await backend.queue.status(ensemble, this.#requestId);
        if (isOver) return;
        if (state === undefined) return this.#add({ kind: "gone" });
      } catch {
        // The backend is unavailable. The next query tries again.
      }
      if (!isOver) schedule();
    };
    const schedule = (): void => {
      stop = startClockTimer(this.#place.clock, LOOK_MS, () => void look());
    };
    this.#leave.push(() => {
      isOver = true;
      stop();
    });
    schedule();
  }
}
