import type { ChatModel, ChatModelProvider, ModelRef } from "../../../contracts/chat-model.js";
import { ValidationError } from "../../../contracts/errors.js";
import { knownNames, preview } from "../../../contracts/validation.js";

/**
 * Returns the model of a checked reference. `what` names it in errors.
 * @throws ValidationError that names the available providers.
 */
export function modelNamed(
  what: string,
  ref: ModelRef,
  providers: readonly ChatModelProvider[],
): ChatModel {
  if (typeof ref !== "string") return ref;
  const colon = ref.indexOf(":");
  const name = ref.slice(0, colon);
  const provider = providers.findLast((p) => p.name === name);
  if (provider !== undefined) return provider.create(ref.slice(colon + 1));
  const names = providers.map((p) => p.name);
  throw new ValidationError(
    `Unknown model provider '${name}' in ${what} ${preview(ref)}. ${knownNames(name, names)}`,
  );
}
