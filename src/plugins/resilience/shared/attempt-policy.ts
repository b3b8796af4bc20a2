import { createHash } from "node:crypto";
import type { ChatModel, ChatRequest } from "../../../contracts/chat-model.js";
import type { LlmCall } from "../../../contracts/hooks.js";
import type { RetryPolicy } from "../../../contracts/retry.js";
import type { FallbackChain } from "./fallback-chain.js";
import { ModelCallError } from "../../../contracts/errors.js";
import { anotherModelMayHelp, mayPass } from "./failure-kinds.js";

/** The settings for repeating failed calls. */
export interface RetrySettings {
  /** Attempts with each model. `undefined`: the number that the model declares. */
  readonly maxAttempts: number | undefined;
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  readonly maxRetryAfterMs: number;
}

/**
 * The retry policy. It repeats a call with the same model while a retry can succeed. Then it uses
 * the next model of a fallback chain. With a fallback chain it keeps, between two attempts, the
 * attempt at which the current model began. It keeps nothing after the request.
 */
export class AttemptPolicy implements RetryPolicy {
  #chains: readonly FallbackChain[] = [];
  /**
   * Attempts with earlier models, by request and conversation. Several concurrent calls may have
   * the same request.
   */
  readonly #spent = new WeakMap<ChatRequest, Map<string, number>>();

  constructor(readonly settings: RetrySettings) {}

  follow(chains: readonly FallbackChain[]): void {
    this.#chains = chains;
  }

  next(
    failure: unknown,
    attempt: number,
    call: LlmCall,
  ): { readonly delayMs: number; readonly model?: ChatModel } | undefined {
    if (!ModelCallError.isInstance(failure)) return undefined;
    const delayMs = this.#delayMs(failure, attempt - this.#spentBefore(attempt, call), call);
    if (delayMs !== undefined) return { delayMs };
    const model = anotherModelMayHelp(failure, call.request)
      ? this.#nextModel(call.model)
      : undefined;
    if (model === undefined) return undefined;
    this.#remember(attempt, call);
    return { delayMs: 0, model };
  }

  alternatives(model: ChatModel): readonly ChatModel[] {
    return this.#chainOf(model)?.allAfter(model) ?? [];
  }

  /**
   * Returns the delay before the next attempt with the same model. Returns `undefined` if there is
   * none. `tries` is the number of attempts already made with it.
   */
  #delayMs(failure: ModelCallError, tries: number, call: LlmCall): number | undefined {
    const { maxAttempts = call.model.capabilities?.retry?.maxAttempts ?? 1, maxRetryAfterMs } =
      this.settings;
    if (!mayPass(failure) || !(tries < maxAttempts)) return undefined;
    const { retryAfterMs } = failure;
    if (retryAfterMs === undefined || !(retryAfterMs >= 0)) return this.#backOffMs(tries, call);
    return retryAfterMs <= maxRetryAfterMs ? retryAfterMs : undefined;
  }

  /**
   * Returns a delay that doubles with each attempt. A jitter of up to half keeps calls that failed
   * together from being repeated together.
   */
  #backOffMs(tries: number, call: LlmCall): number {
    const { baseDelayMs, maxDelayMs } = this.settings;
    const ceiling = Math.min(maxDelayMs, baseDelayMs * 2 ** Math.min(tries - 1, 31));
    return Math.round((ceiling / 2) * (1 + spread(`${conversationKey(call)}/${tries}`)));
  }

  #nextModel(model: ChatModel): ChatModel | undefined {
    return this.#chainOf(model)?.allAfter(model)[0];
  }

  #chainOf(model: ChatModel): FallbackChain | undefined {
    return this.#chains.find((c) => c.has(model)) ?? this.#chains[0];
  }

  #spentBefore(attempt: number, call: LlmCall): number {
    const spent = this.#spent.get(call.request);
    if (attempt === 1) spent?.delete(conversationKey(call)); // the request belongs to another call
    return spent?.get(conversationKey(call)) ?? 0;
  }

  #remember(attempt: number, call: LlmCall): void {
    const spent = this.#spent.get(call.request) ?? new Map<string, number>();
    this.#spent.set(call.request, spent.set(conversationKey(call), attempt));
  }
}

function conversationKey({ run, taskId, iteration }: LlmCall): string {
  return `${run.id}/${taskId}/${iteration}`;
}

/**
 * Returns a pseudo-random number from 0 to 1. It is equal for equal ids, so tests and replays have
 * equal delays.
 */
function spread(place: string): number {
  return createHash("sha256").update(place).digest().readUInt32BE() / 0xffff_ffff;
}
