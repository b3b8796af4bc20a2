import type { ChatModel } from "./chat-model.js";
import type { LlmCall } from "./hooks.js";

/**
 * Decides after a failed model call. Returns a delay of `delayMs` before the next attempt
 * (optionally with another model), or `undefined` to give up. `attempt` is the failed attempt, from
 * 1.
 */
export interface RetryPolicy {
  next(
    failure: unknown,
    attempt: number,
    call: LlmCall,
  ): { readonly delayMs: number; readonly model?: ChatModel } | undefined;
  /**
   * Returns the other models that `next` may choose after a failure of this one. What one of them
   * accepts is not refused before the run. Default: none.
   */
  alternatives?(model: ChatModel): readonly ChatModel[];
}
