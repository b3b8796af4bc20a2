import type { EnsembleListener, Ev } from "../contracts/events.js";
import type { WorkRequest } from "../contracts/network.js";
import type { ReviewDecision } from "../contracts/review.js";
import type { DeliveryParts } from "./delivery-parts.js";
import { publishingListener } from "./publishing-listener.js";
import { ForwardedQuestions } from "./forwarded-questions.js";
import { receiveDecisions } from "../plugins/network/shared/decisions.js";
import { messageOf } from "../util/errors.js";
import { cancelTopic, progressTopic } from "../plugins/network/shared/topic-names.js";

/** Maximum number of messages of one request that are sent concurrently. */
const MOST_AT_ONCE = 50;

/** The messages between the run of a request and its caller: cancel, progress, reviews. */
export class RequestTopics {
  readonly listener: EnsembleListener;
  readonly #parts: DeliveryParts;
  readonly #request: WorkRequest;
  readonly #questions: ForwardedQuestions;
  readonly #leave: (() => void)[] = [];
  #isClosed = false;
  /** Ends the notifications. Created for the first notification: most runs ask no question. */
  #notifying: AbortController | undefined;
  #receivesDecisions = false;
  #publishing = 0;

  constructor(parts: DeliveryParts, request: WorkRequest) {
    this.#parts = parts;
    this.#request = request;
    this.#questions = new ForwardedQuestions({
      clock: parts.clock,
      isForwarded: request.reviews === "forward",
      publish: (message) => this.#publish(message),
    });
    this.listener = {
      ...publishingListener((message) => this.#publish(message)),
      onReviewRequested: (asked) => {
        this.#receiveDecisions();
        this.#questions.ask(asked);
        void this.#notify(asked); // never rejects
      },
      onReviewResolved: ({ type, reviewId, taskId }) => {
        this.#questions.resolved(reviewId);
        this.#publish({ type, reviewId, taskId });
      },
    };
  }

  /**
   * Calls `lookForCancel` when the request may have been cancelled. A failing store has no effect,
   * because messages may be lost.
   */
  async open(lookForCancel: () => void): Promise<void> {
    const topic = cancelTopic(this.#requestId);
    await this.#subscribe(() => this.#parts.backend.topics.subscribe(topic, lookForCancel));
  }

  close(): void {
    this.#isClosed = true;
    this.#notifying?.abort();
    this.#questions.close();
    for (const leave of this.#leave.splice(0)) leave();
  }

  /** Best effort: the caller also receives the question in its task. */
  async #notify(asked: Ev<"review_requested">): Promise<void> {
    const { push, redactor, events } = this.#parts;
    if (push === undefined) return;
    this.#notifying ??= new AbortController();
    const { signal } = this.#notifying;
    let problem: string | undefined;
    try {
      problem = await push.asked(this.#request, redactor.value(asked), signal);
    } catch (error) {
      problem = messageOf(error);
    }
    if (problem !== undefined && !this.#isClosed)
      events.warn(`A question of request '${this.#requestId}' was not delivered: ${problem}`);
  }

  get #requestId(): string {
    return this.#request.requestId;
  }

  /** Best effort: excess messages of concurrent tasks are dropped. */
  #publish(message: Readonly<Record<string, unknown>>): void {
    const { backend, redactor } = this.#parts;
    if (this.#publishing >= MOST_AT_ONCE) return;
    this.#publishing++;
    backend.topics
      .publish(progressTopic(this.#requestId), redactor.value(message))
      .catch(() => undefined)
      .finally(() => this.#publishing--);
  }

  #receiveDecisions(): void {
    const { reviews, backend } = this.#parts;
    if (reviews === undefined || this.#receivesDecisions) return;
    this.#receivesDecisions = true;
    void this.#subscribe(() =>
      receiveDecisions(backend, this.#requestId, async (reviewId, decision) => {
        // The store checks the decision.
        const { outcome } = await reviews.resolve(reviewId, decision as ReviewDecision);
        return outcome === "resolved";
      }),
    );
  }

  async #subscribe(subscribe: () => Promise<() => void>): Promise<void> {
    try {
      const leave = await subscribe();
      if (this.#isClosed) leave();
      else this.#leave.push(leave);
    } catch {
      // The renewals of the lease detect whether the request was cancelled.
    }
  }
}
