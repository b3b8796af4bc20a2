import type { ChatModel } from "./chat-model.js";
import type { LlmCall } from "./hooks.js";

/**
 * Determines the reaction to a failed model call. Returns the delay (`delayMs`, in milliseconds)
 * before the next attempt, optionally with another model. Returns `undefined` to give up. `attempt`
 * is the number of the failed attempt, from 1.
 */
export interface RetryPolicy {
  next(
    failure: unknown,
    attempt: number,
    call: LlmCall,
  ): { readonly delayMs: number; readonly model?: ChatModel } | undefined;
  /**
   * Returns the models that `next` may choose after a failure of `model`. An attachment that one of
   * these models accepts is not refused before the run. Default: none.
   */
  alternatives?(model: ChatModel): readonly ChatModel[];
}
