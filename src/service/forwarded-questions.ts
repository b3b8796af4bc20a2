import type { Ev } from "../contracts/events.js";
import type { Clock } from "../contracts/runtime.js";
import { startClockTimer } from "../plugins/network/shared/clock-timer.js";

/** Interval at which a question is published until it is answered, because messages may be lost. */
const REPEAT_MS = 2_000;
/** Limit of the characters of a text in a message. A message has at most 4 KiB. */
const MOST_QUESTION = 300;
const MOST_OUTPUT = 600;

type Asked = Ev<"review_requested">;

interface QuestionPlace {
  readonly clock: Clock;
  /** Whether the caller answers. Otherwise the caller only receives the question. */
  readonly isForwarded: boolean;
  publish(message: Readonly<Record<string, unknown>>): void;
}

/** Publishes the questions of a run for its caller. */
export class ForwardedQuestions {
  readonly #place: QuestionPlace;
  readonly #stops = new Map<string, () => void>();

  constructor(place: QuestionPlace) {
    this.#place = place;
  }

  ask(asked: Asked): void {
    const { type, reviewId, taskId } = asked;
    const { clock, isForwarded, publish } = this.#place;
    if (!isForwarded) return publish({ type, reviewId, taskId });
    const endMs = asked.timeoutMs === 0 ? undefined : clock.monotonicMs() + asked.timeoutMs;
    const question = asked.prompt ?? `Approve: ${asked.taskDescription}`;
    const again = (): void => {
      const leftMs = endMs === undefined ? undefined : endMs - clock.monotonicMs();
      publish({
        ...{ type, reviewId, taskId },
        question: question.slice(0, MOST_QUESTION),
        output: asked.taskOutput.slice(0, MOST_OUTPUT),
        ...(asked.taskOutput.length > MOST_OUTPUT && { truncated: true }),
        ...(asked.requiredRole !== undefined && { requiredRole: asked.requiredRole }),
        ...(leftMs !== undefined && { leftMs: Math.max(1, Math.round(leftMs)) }),
      });
      this.#stops.set(reviewId, startClockTimer(clock, REPEAT_MS, again));
    };
    again();
  }

  resolved(reviewId: string): void {
    this.#stops.get(reviewId)?.();
    this.#stops.delete(reviewId);
  }

  close(): void {
    for (const reviewId of [...this.#stops.keys()]) this.resolved(reviewId);
  }
}
