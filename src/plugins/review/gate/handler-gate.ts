import { createHash } from "node:crypto";
import type {
  ReviewAsker,
  ReviewDecision as Decision,
  ReviewGate,
  ReviewHandler,
  ReviewQuestion,
  ReviewRequest,
} from "../../../contracts/review.js";
import type { HookRun } from "../../../contracts/run.js";
import type { ReviewDefaults } from "./review-gate-options.js";
import { ToolConfigurationError } from "../../../contracts/errors.js";
import { checkReviewOptions, ReviewDecision } from "../../../contracts/review.js";
import { ReviewTimeoutError } from "../../../contracts/state-errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { withTimeout } from "../../../util/abort/timeouts.js";
import { endOfWait } from "../shared/end-of-wait.js";
import { decisionOf, decisionOfError } from "./decision.js";

/** A request before it has a signal. */
type OpenRequest = Omit<ReviewRequest, "signal">;

/** Gives questions to the run's handler, and keeps the time itself: the gate does not depend on what the handler does. */
export class HandlerGate implements ReviewGate {
  readonly #defaults: ReviewDefaults;
  /** How often a run has asked each question. */
  readonly #asked = new WeakMap<HookRun, Map<string, number>>();

  constructor(defaults: ReviewDefaults) {
    this.#defaults = defaults;
  }

  hasHandler(run: HookRun): boolean {
    return run.find(Tokens.ReviewHandler) !== undefined;
  }

  async ask(question: ReviewQuestion, asker: ReviewAsker): Promise<Decision> {
    checkReviewOptions("Review", question);
    const { run } = asker;
    const handler = run.find(Tokens.ReviewHandler);
    if (handler === undefined)
      throw new ToolConfigurationError("No ReviewHandler is configured on the ensemble", {
        hint: "Set reviewHandler: ReviewHandler.console(), or your own.",
      });
    const request = this.#request(question, asker);
    const clock = run.get(Tokens.Clock);
    const startedMs = clock.monotonicMs();
    const resolved = (decision: Decision["type"] | "FAIL", timedOut: boolean): void =>
      run.emit({
        ...reviewedPlace(asker),
        type: "review_resolved",
        reviewId: request.reviewId,
        decision,
        timedOut,
        durationMs: clock.monotonicMs() - startedMs,
      });
    const { runId: _, ...told } = request;
    run.emit({ ...told, ...reviewedPlace(asker), type: "review_requested" });
    try {
      const { decision, timedOut } = await decideWithin(handler, request, asker.signal);
      resolved(decision.type, timedOut);
      return decision;
    } catch (error) {
      resolved("FAIL", ReviewTimeoutError.isInstance(error));
      throw error;
    }
  }

  #request(question: ReviewQuestion, asker: ReviewAsker): OpenRequest {
    const { timing, taskDescription, taskOutput, prompt, requiredRole } = question;
    return {
      reviewId: this.#idOf(question, asker),
      runId: asker.run.id,
      taskId: asker.taskId,
      agentRole: asker.agentRole,
      taskDescription,
      taskOutput,
      timing,
      timeoutMs: question.timeoutMs ?? this.#defaults.timeoutMs,
      onTimeout: question.onTimeout ?? this.#onTimeout(question),
      ...(prompt === undefined
        ? {}
        : { prompt: typeof prompt === "string" ? prompt : prompt.fill(asker.run.inputs) }),
      ...(requiredRole === undefined ? {} : { requiredRole }),
    };
  }

  /** What a tool wants to do is never approved by silence alone, unless the tool says so itself. */
  #onTimeout({ timing }: ReviewQuestion): ReviewDefaults["onTimeout"] {
    const { onTimeout } = this.#defaults;
    return timing === "DURING_EXECUTION" && onTimeout === "CONTINUE" ? "EXIT_EARLY" : onTimeout;
  }

  /** The same for the same question of a run, so that an answer may come later and by another way. Models may give two tool calls one id: then the order counts. */
  #idOf({ timing, key }: ReviewQuestion, { run, taskId, attempt }: ReviewAsker): string {
    const facts = JSON.stringify([run.id, taskId, attempt, timing, key]);
    const id = `review-${createHash("sha256").update(facts).digest("hex").slice(0, 16)}`;
    const asked = this.#asked.get(run) ?? new Map<string, number>();
    this.#asked.set(run, asked);
    const count = (asked.get(id) ?? 0) + 1;
    asked.set(id, count);
    return count === 1 ? id : `${id}-${count}`;
  }
}

interface SettledReview {
  readonly decision: Decision;
  readonly timedOut: boolean;
}

/** A `timeoutMs` of 0 waits without a limit. */
function decideWithin(
  handler: ReviewHandler,
  request: OpenRequest,
  ended: AbortSignal,
): Promise<SettledReview> {
  return withTimeout((signal) => askHandler(handler, Object.freeze({ ...request, signal })), {
    ms: request.timeoutMs === 0 ? Number.POSITIVE_INFINITY : request.timeoutMs,
    late: () => decisionOfSilence(request),
    signal: ended,
    ended: () => endOfWait(ended),
  });
}

async function askHandler(handler: ReviewHandler, request: ReviewRequest): Promise<SettledReview> {
  let answer: unknown;
  try {
    answer = await handler(request);
  } catch (error) {
    return settled(decisionOfError(error));
  }
  return settled(decisionOf(answer));
}

function settled(decision: Decision): SettledReview {
  return { decision, timedOut: decision.timedOut === true };
}

/** @throws ReviewTimeoutError where silence fails the task. */
function decisionOfSilence({ onTimeout, timeoutMs }: OpenRequest): SettledReview {
  if (onTimeout === "FAIL") throw new ReviewTimeoutError(timeoutMs);
  const decision =
    onTimeout === "CONTINUE"
      ? ReviewDecision.continue()
      : ReviewDecision.exitEarly({ timedOut: true });
  return { decision, timedOut: true };
}

function reviewedPlace({ taskId, parentTaskId, agentRole }: ReviewAsker): {
  readonly taskId: string;
  readonly agentRole: string;
  readonly parentTaskId?: string;
} {
  return parentTaskId === undefined ? { taskId, agentRole } : { taskId, agentRole, parentTaskId };
}
