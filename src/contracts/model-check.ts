import type { ChatModel } from "./chat-model.js";
import { AgentEnsembleError, ValidationError } from "./errors.js";
import { messageOf } from "../util/errors.js";

/** Throws if the model's configuration prevents calls. Opens no connection. */
export type ModelCheck = (model: ChatModel) => void;

/**
 * Checks a model before a run spends anything. Default of `check`: the method `check()` of the
 * model. `who` names the caller of the model in the error.
 * @throws ValidationError with the model's error as its cause.
 */
export function requireUsable(who: string, model: ChatModel, check: ModelCheck | undefined): void {
  try {
    if (check === undefined) model.check?.();
    else check(model);
  } catch (cause) {
    throw new ValidationError(`${who} has no usable model: ${messageOf(cause)}`, {
      cause,
      hint: AgentEnsembleError.isInstance(cause) ? cause.hint : undefined,
    });
  }
}
