import { createHash } from "node:crypto";
import type {
  ReviewAsker,
  ReviewDecision as Decision,
  ReviewGate,
  ReviewHandler,
  ReviewQuestion,
  ReviewRemarks,
  ReviewRequest,
  ReviewStore,
  StoredReview,
} from "../../../contracts/review.js";
import type { HookRun } from "../../../contracts/run.js";
import type { ReviewDefaults } from "./review-gate-options.js";
import { checkReviewOptions, ReviewDecision } from "../../../contracts/review.js";
import {
  ReviewError,
  ReviewTimeoutError,
  ReviewUnavailableError,
} from "../../../contracts/state-errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { preview } from "../../../contracts/validation.js";
import { askOutside } from "../../../contracts/outside.js";
import { withTimeout } from "../../../util/abort/timeouts.js";
import { messageOf } from "../../../util/errors.js";
import { isObject } from "../../../util/objects.js";
import { endOfWait } from "../shared/end-of-wait.js";
import { decisionOf, decisionOfError } from "./decision.js";

/** A request without its signal. */
type OpenRequest = Omit<ReviewRequest, "signal">;

/** The latest instant of a `Date`, in milliseconds. */
const LAST_INSTANT_MS = 8.64e15;

/**
 * Passes requests to the handler of the run, or else to its store. Enforces the time limit
 * independently of both.
 */
export class HandlerGate implements ReviewGate {
  readonly #defaults: ReviewDefaults;
  /** The number of requests of a run for each question. */
  readonly #asked = new WeakMap<HookRun, Map<string, number>>();
  /** Runs for which the warning about unanswered reviews was emitted. */
  readonly #warned = new WeakSet<HookRun>();

  constructor(defaults: ReviewDefaults) {
    this.#defaults = defaults;
  }

  canAsk(run: HookRun): boolean {
    if (run.find(Tokens.ReviewHandler) !== undefined) return true;
    if (isDecidedOutside(run)) return true;
    const store = run.get(Tokens.ReviewStore);
    return store.isWatched() || store.howToAnswer !== undefined;
  }

  async ask(question: ReviewQuestion, asker: ReviewAsker): Promise<Decision> {
    checkReviewOptions("Review", question);
    const { run, signal } = asker;
    if (signal.aborted) throw endOfWait(signal);
    if (!this.canAsk(run))
      throw new ReviewUnavailableError(
        `No reviewer can answer the review of task '${asker.taskId}' (agent '${asker.agentRole}')`,
      );
    const request = this.#request(question, asker);
    const clock = run.get(Tokens.Clock);
    const startedMs = clock.monotonicMs();
    const resolved = (
      decision: Decision["type"] | "FAIL",
      timedOut: boolean,
      { by, comment }: ReviewRemarks = {},
    ): void => {
      const endedMs = clock.monotonicMs();
      const remarks = {
        ...(by !== undefined && { by }),
        ...(comment !== undefined && { comment }),
      };
      run.recordReview({ request, startedMs, endedMs, decision, timedOut, ...remarks });
      run.emit({
        ...reviewedPlace(asker),
        type: "review_resolved",
        reviewId: request.reviewId,
        decision,
        timedOut,
        ...remarks,
        durationMs: Math.round(endedMs - startedMs),
      });
    };
    const { runId: _, ...told } = request;
    run.emit({ ...told, ...reviewedPlace(asker), type: "review_requested" });
    try {
      const { taskId, signal } = asker;
      const name = `${question.timing}:${question.key}`;
      let since = clock.now();
      // a store keeps the instant itself
      const hasHandler = run.find(Tokens.ReviewHandler) !== undefined;
      const begunAt = hasHandler && request.timeoutMs > 0 ? (at: Date) => (since = at) : undefined;
      const { decision, timedOut } = await askOutside(
        { run, taskId, signal, kind: "review", name, begunAt },
        () => this.#decide(request, asker, since),
      );
      resolved(decision.type, timedOut, decision);
      return decision;
    } catch (error) {
      resolved("FAIL", ReviewTimeoutError.isInstance(error));
      throw error;
    }
  }

  /** Requests a decision from the handler of the run, or else from its store. */
  async #decide(
    request: OpenRequest,
    { run, signal }: ReviewAsker,
    since: Date,
  ): Promise<SettledReview> {
    const handler = run.find(Tokens.ReviewHandler);
    if (handler !== undefined) {
      const ask = (ended: AbortSignal): Promise<unknown> => handed(handler, request, ended);
      const waitedMs = Math.max(0, run.get(Tokens.Clock).now().getTime() - since.getTime());
      const ms = request.timeoutMs === 0 ? Infinity : request.timeoutMs - waitedMs;
      return ms > 0 ? decideWithin(ask, request, { ms, signal }) : decisionOfSilence(request);
    }
    return this.#ofStore(run.get(Tokens.ReviewStore), request, { run, signal });
  }

  /**
   * Waits for the decision of a store, which may never answer. A run that ends before the decision
   * notifies the store. Otherwise the review would stay open.
   */
  async #ofStore(
    store: ReviewStore,
    request: OpenRequest,
    { run, signal }: Pick<ReviewAsker, "run" | "signal">,
  ): Promise<SettledReview> {
    let asking: Promise<StoredReview> | undefined;
    let isLeft = true;
    try {
      const kept = await withTimeout(() => (asking = askInbox(store, request)), {
        ms: request.timeoutMs || Infinity,
        late: () => undefined,
        signal,
        ended: () => endOfWait(signal),
      });
      if (kept === undefined) return decisionOfSilence(request);
      if (kept.decision !== undefined) {
        isLeft = false;
        return settled(decisionOf(kept.decision));
      }
      this.#warnUnwatched(run, store, request.reviewId);
      const ask = (ended: AbortSignal): Promise<unknown> => {
        isLeft = false;
        return store.waitFor(request.reviewId, ended);
      };
      const nowMs = run.get(Tokens.Clock).now().getTime();
      return await decideWithin(ask, request, { ms: msLeft(kept, request, nowMs), signal });
    } finally {
      if (isLeft)
        asking
          ?.then(() => store.waitFor(request.reviewId, AbortSignal.abort()))
          .catch(() => undefined); // the wait ends with its signal
    }
  }

  /**
   * If no listener in this process can answer, warns once per run how to answer from another
   * process.
   */
  #warnUnwatched(run: HookRun, store: ReviewStore, reviewId: string): void {
    if (store.isWatched() || this.#warned.has(run) || isDecidedOutside(run)) return;
    this.#warned.add(run);
    const how = store.howToAnswer?.(reviewId) ?? "its store describes how";
    run.warn(`The run waits for a review that this process can't answer. To answer it: ${how}`);
  }

  #request(question: ReviewQuestion, asker: ReviewAsker): OpenRequest {
    const { timing, taskDescription, taskOutput, prompt, requiredRole } = question;
    const timeoutMs = question.timeoutMs ?? this.#defaults.timeoutMs;
    const askedMs = asker.run.get(Tokens.Clock).now().getTime();
    const endMs = timeoutMs === 0 ? Infinity : askedMs + timeoutMs;
    return {
      reviewId: this.#idOf(question, asker),
      runId: asker.run.id,
      taskId: asker.taskId,
      agentRole: asker.agentRole,
      taskDescription,
      taskOutput,
      timing,
      requestedAt: new Date(askedMs).toISOString(),
      ...(endMs <= LAST_INSTANT_MS && { deadline: new Date(endMs).toISOString() }),
      timeoutMs,
      onTimeout: question.onTimeout ?? this.#onTimeout(question),
      ...(prompt === undefined
        ? {}
        : { prompt: typeof prompt === "string" ? prompt : prompt.fill(asker.run.inputs) }),
      ...(requiredRole === undefined ? {} : { requiredRole }),
      ...contentsOf(question),
    };
  }

  /**
   * Returns the reaction to a time-out. A missing answer never approves a tool call, unless the
   * options of the tool allow it.
   */
  #onTimeout({ timing }: ReviewQuestion): ReviewDefaults["onTimeout"] {
    const { onTimeout } = this.#defaults;
    return timing === "DURING_EXECUTION" && onTimeout === "CONTINUE" ? "EXIT_EARLY" : onTimeout;
  }

  /**
   * Returns an id that is equal for the same question of a run. An answer can therefore arrive
   * later and through another channel. If a model gives two tool calls the same id, the order
   * distinguishes them.
   */
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

function isDecidedOutside(run: HookRun): boolean {
  return run.all(Tokens.OutsideAccess).some((access) => access.decidesReviews?.(run) === true);
}

/** Returns the subject of a question without its texts. */
function contentsOf({
  toolName,
  callId,
  input,
  truncated,
  editSchema,
  expects,
}: ReviewQuestion): Partial<OpenRequest> {
  return {
    ...(toolName !== undefined && { toolName }),
    ...(callId !== undefined && { callId }),
    ...(input !== undefined && { input }),
    ...(truncated === true && { truncated }),
    ...(editSchema !== undefined && { editSchema }),
    ...(expects !== undefined && { expects }),
  };
}

interface SettledReview {
  readonly decision: Decision;
  readonly timedOut: boolean;
}

/**
 * Returns the result of `ask` within the time limit. After it, returns the result that `onTimeout`
 * determines.
 */
function decideWithin(
  ask: (signal: AbortSignal) => Promise<unknown>,
  request: OpenRequest,
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
): Promise<SettledReview> {
  return withTimeout((ended) => decisionFrom(ask(ended)), {
    ms,
    late: () => decisionOfSilence(request),
    signal,
    ended: () => endOfWait(signal),
  });
}

/** Calls the handler. Rejects with its error. */
async function handed(
  handler: ReviewHandler,
  request: OpenRequest,
  signal: AbortSignal,
): Promise<unknown> {
  return handler(Object.freeze({ ...request, signal }));
}

/** @throws ReviewError for an error of the store, and for an invalid review. */
async function askInbox(store: ReviewStore, request: OpenRequest): Promise<StoredReview> {
  try {
    const kept: unknown = await store.ask(request);
    if (isObject(kept)) return kept as unknown as StoredReview; // the caller checks its decision
    throw new ReviewError(
      `The review store did not store the review, and returned: ${preview(kept)}`,
    );
  } catch (error) {
    throw ReviewError.isInstance(error)
      ? error
      : new ReviewError(`The review store failed: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Returns the remaining time of a stored review. If its store has lost the deadline, returns the
 * time of the request.
 */
function msLeft(
  { deadline = "" }: StoredReview,
  { timeoutMs }: OpenRequest,
  nowMs: number,
): number {
  const endMs = Date.parse(deadline);
  return Number.isNaN(endMs) ? timeoutMs || Infinity : Math.max(0, endMs - nowMs);
}

async function decisionFrom(asking: Promise<unknown>): Promise<SettledReview> {
  let answer: unknown;
  try {
    answer = await asking;
  } catch (error) {
    return settled(decisionOfError(error));
  }
  return settled(decisionOf(answer));
}

function settled(decision: Decision): SettledReview {
  return { decision, timedOut: decision.timedOut === true };
}

/** @throws ReviewTimeoutError if a missing answer fails the task. */
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
