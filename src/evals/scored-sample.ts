import type { ChatRequest, ChatResponse, ModelRef } from "../contracts/chat-model.js";
import type { EmbeddingModel } from "../contracts/embedding.js";
import type { Sample, Scorer, ScorerContext } from "./scorer.js";
import type { TrialScore } from "./evaluation-result.js";
import { ValidationError } from "../contracts/errors.js";
import { ScoreError } from "../contracts/evaluation-errors.js";
import { preview } from "../contracts/validation.js";
import { Cancellation } from "../util/abort/cancellation.js";
import { settleWithin } from "../util/abort/timeouts.js";
import { messageOf } from "../util/errors.js";
import { asFields, isThenable } from "../util/objects.js";

/** The score of a sample, or the reason for a missing score. */
export type SampleScore =
  | { readonly score: TrialScore & { readonly value: number } }
  | { readonly score: TrialScore; readonly skipped: true }
  | { readonly score: TrialScore; readonly error: ScoreError };

/** Settings for scoring. */
export interface ScoringSettings {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly embeddingModel: EmbeddingModel | undefined;
  chat(
    request: ChatRequest,
    options: { readonly model?: ModelRef | undefined; readonly signal: AbortSignal },
  ): Promise<ChatResponse>;
}

/** Returns the minimum value that passes. */
export function passValueOf(scorer: Scorer): number {
  return scorer.passAt ?? 1;
}

/** Scores a sample. Never rejects, except after an abort of the signal. */
export async function scoreSample(
  scorer: Scorer,
  sample: Sample,
  settings: ScoringSettings,
): Promise<SampleScore> {
  const { signal } = settings;
  const end = new Cancellation();
  try {
    signal.throwIfAborted();
    const scored = scorer(sample as Sample<never, never>, new ScoreContext(settings, end));
    const given: unknown = isThenable(scored) ? await inTime(scored, end, settings) : scored;
    if (given === undefined) return { score: {}, skipped: true };
    return { score: checkedScore(given, passValueOf(scorer)) };
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const error = ScoreError.isInstance(thrown)
      ? thrown
      : new ScoreError(messageOf(thrown), "score", { cause: thrown });
    return { score: { error: error.message }, error };
  } finally {
    end.dispose();
  }
}

/**
 * Waits for a score. Starts a timer only for a promise, because most scores are available
 * immediately.
 */
function inTime(
  scored: PromiseLike<unknown>,
  end: Cancellation,
  { timeoutMs, signal }: ScoringSettings,
): Promise<unknown> {
  const late = (): Error =>
    new ScoreError(`The scorer did not end within ${timeoutMs} ms`, "timeout");
  return settleWithin(scored, end.follow(signal).expire(timeoutMs, late));
}

/** The context of one score. Its calls end with the score. */
class ScoreContext implements ScorerContext {
  declare readonly signal: AbortSignal;
  readonly chat: ScorerContext["chat"];
  readonly embed: ScorerContext["embed"];
  readonly #end: Cancellation;

  constructor({ chat, embeddingModel }: ScoringSettings, end: Cancellation) {
    this.#end = end;
    Object.defineProperty(this, "signal", ScoreContext.#signal);
    this.chat = (request, { model } = {}) => chat(request, { model, signal: end.signal });
    this.embed = async (texts) => {
      if (embeddingModel !== undefined) return embeddingModel.embed(texts);
      throw new ValidationError("A scorer needs vectors, and there is no embedding model", {
        hint: "Give the evaluation, or the scorer, an embedding model.",
      });
    };
  }

  /** Own and enumerable: copies of a context then have it. Few scorers read it. */
  static readonly #signal: PropertyDescriptor = {
    enumerable: true,
    get(this: ScoreContext) {
      return this.#end.signal;
    },
  };
}

/** @throws ScoreError unless the value is from 0 to 1. */
function checkedScore(given: unknown, passAt: number): TrialScore & { readonly value: number } {
  const fields = asFields(given);
  const raw = fields === undefined ? given : fields["value"];
  const value = typeof raw === "boolean" ? Number(raw) : raw;
  if (typeof value !== "number" || Number.isNaN(value))
    throw new ScoreError(`The score is not a number: ${preview(raw)}`, "not-a-number");
  if (value < 0 || value > 1)
    throw new ScoreError(`The score is not between 0 and 1: ${preview(value)}`, "out-of-range");
  const { reason, evidence } = fields ?? {};
  return {
    value,
    passed: value >= passAt,
    ...(typeof reason === "string" && { reason }),
    ...(evidence !== undefined && { evidence }),
  };
}
