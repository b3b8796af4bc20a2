import type { ChatModel } from "./chat-model.js";
import type { LlmCall } from "./hooks.js";

/** Decides after a failed model call: wait `delayMs` and try again (with another model, where given), or `undefined` to give up. `attempt` is the one that failed, from 1. */
export interface RetryPolicy {
  next(
    failure: unknown,
    attempt: number,
    call: LlmCall,
  ): { readonly delayMs: number; readonly model?: ChatModel } | undefined;
}
