import type { Remote } from "../../../contracts/network.js";
import type { ReviewDecision, ReviewGate } from "../../../contracts/review.js";
import type { ToolContext } from "../../../contracts/tool.js";
import { ReviewUnavailableError } from "../../../contracts/state-errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { messageOf } from "../../../util/errors.js";
import { asFields, asText } from "../../../util/objects.js";

/** A question of a remote run, received with the progress of its request. */
interface ForwardedQuestion {
  readonly reviewId: string;
  readonly question: string;
  readonly output: string;
  /** Remaining time of the remote run in milliseconds. `undefined` means no limit. */
  readonly leftMs: number | undefined;
  readonly requiredRole: string | undefined;
}

/** The parts for asking reviewers of the caller about a remote run. */
export interface ForwardedReviewsParts {
  readonly remote: Remote;
  readonly requestId: string;
  /** The name of the ensemble, for the reviewer. */
  readonly ensemble: string;
  readonly ctx: ToolContext;
}

/** Asks reviewers of the caller the questions of one remote run, and returns their decisions. */
export class ForwardedReviews {
  readonly #parts: ForwardedReviewsParts;
  readonly #gate: ReviewGate;
  readonly #ended = new AbortController();
  /** The open questions by the id of the review. */
  readonly #open = new Map<string, AbortController>();
  /** Decisions that the remote run has not confirmed. */
  readonly #decided = new Map<string, ReviewDecision>();
  readonly #done = new Set<string>();

  /** @throws ReviewUnavailableError if no reviewer can answer here. */
  constructor(parts: ForwardedReviewsParts) {
    const { run } = parts.ctx.scope;
    const gate = run.find(Tokens.ReviewGate);
    if (gate?.canAsk(run) !== true)
      throw new ReviewUnavailableError(
        `No reviewer can answer the reviews of ensemble '${parts.ensemble}', which are forwarded`,
      );
    this.#parts = parts;
    this.#gate = gate;
  }

  /** Handles a question in the progress of the request. */
  hear(progress: unknown): void {
    const fields = asFields(progress) ?? {};
    const reviewId = asText(fields["reviewId"]);
    if (fields["type"] === "review_resolved") this.#open.get(reviewId)?.abort();
    if (fields["type"] !== "review_requested" || typeof fields["question"] !== "string") return;
    const expiresMs = fields["leftMs"] ?? Date.parse(asText(fields["expires"])) - this.#nowMs();
    const leftMs = typeof expiresMs === "number" && expiresMs > 0 ? expiresMs : undefined;
    const { question, requiredRole: role } = fields;
    const requiredRole = typeof role === "string" ? role : undefined;
    const output = asText(fields["output"]);
    void this.#answered({ reviewId, question, output, leftMs, requiredRole });
  }

  /** Ends all questions when the request has ended. */
  end(): void {
    this.#ended.abort();
    for (const open of this.#open.values()) open.abort();
  }

  #nowMs(): number {
    return this.#parts.ctx.scope.get(Tokens.Clock).now().getTime();
  }

  /**
   * Asks a question. Never rejects. A repeated question is asked once, and its decision is sent
   * again.
   */
  async #answered(question: ForwardedQuestion): Promise<void> {
    const { reviewId } = question;
    if (this.#open.has(reviewId) || this.#done.has(reviewId) || this.#ended.signal.aborted) return;
    const over = new AbortController();
    this.#open.set(reviewId, over);
    try {
      const decision = this.#decided.get(reviewId) ?? (await this.#ask(question, over.signal));
      // The remote run decides.
      if (decision.timedOut === true) return void this.#done.add(reviewId);
      this.#decided.set(reviewId, decision);
      const { remote, requestId } = this.#parts;
      await remote.decide(requestId, reviewId, decision);
      this.#done.add(reviewId);
    } catch (error) {
      if (!over.signal.aborted && !this.#parts.ctx.signal.aborted)
        this.#warn(
          `The answer to a review of '${this.#parts.ensemble}' failed: ${messageOf(error)}`,
        );
    } finally {
      this.#open.delete(reviewId);
    }
  }

  #ask(
    { reviewId, question, output, leftMs = 0, requiredRole }: ForwardedQuestion,
    over: AbortSignal,
  ): Promise<ReviewDecision> {
    const { ctx, ensemble } = this.#parts;
    const { run, taskId, parentTaskId, agentRole, attempt } = ctx.scope;
    const signal = AbortSignal.any([ctx.signal, over]);
    return this.#gate.ask(
      {
        timing: "DURING_EXECUTION",
        taskDescription: `A task of ensemble '${ensemble}'`,
        taskOutput: output,
        prompt: question,
        timeoutMs: Math.ceil(leftMs),
        onTimeout: "EXIT_EARLY",
        key: `${ensemble}:${reviewId}`,
        ...(requiredRole !== undefined && { requiredRole }),
      },
      { run, taskId, parentTaskId, agentRole, attempt, signal },
    );
  }

  #warn(message: string): void {
    this.#parts.ctx.scope.emit({ type: "run_warning", message });
  }
}
