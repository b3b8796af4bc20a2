import type { ChatModel, ChatModelProvider } from "./chat-model.js";
import { AgentEnsembleError, PluginError, ValidationError } from "./errors.js";
import { knownNames, preview } from "./validation.js";
import { messageOf } from "../util/errors.js";

/**
 * Creates the model named by a reference such as `openai:gpt-5-mini`.
 * @throws ValidationError with the names of the providers; the errors of {@link createModel}.
 */
export function modelNamed(ref: string, providers: readonly ChatModelProvider[]): ChatModel {
  const [, name, modelId] = /^([^:]*):(.+)$/s.exec(ref) ?? [];
  const provider = providers.findLast((p) => p.name === name);
  if (name === undefined || modelId === undefined || provider === undefined)
    throw unknownModel(ref, name, providers);
  return createModel(provider, modelId);
}

/**
 * Returns the error for an unknown reference. `provider` is undefined if the text is not a
 * reference.
 */
function unknownModel(
  ref: string,
  provider: string | undefined,
  providers: readonly ChatModelProvider[],
): ValidationError {
  const names = knownNames(
    provider ?? ref,
    providers.map((p) => p.name),
  );
  const hint =
    "Write provider:model, for instance openai:gpt-5-mini; a provider is added by its plugin.";
  if (provider === undefined)
    return new ValidationError(`Model ${preview(ref)} names no provider and model. ${names}`, {
      hint,
    });
  return new ValidationError(
    `Unknown model provider '${provider}' in model ${preview(ref)}. ${names}`,
    { hint },
  );
}

/**
 * Creates a model.
 * @throws the provider's error if it is an error of this package; PluginError for any other error,
 * and for an invalid model.
 */
function createModel(provider: ChatModelProvider, modelId: string): ChatModel {
  let model: unknown;
  try {
    model = provider.create(modelId);
  } catch (error) {
    if (AgentEnsembleError.isInstance(error)) throw error;
    throw new PluginError(
      `Provider '${provider.name}' can't make model '${modelId}': ${messageOf(error)}`,
      { plugin: provider.name, hook: "create" },
      { cause: error },
    );
  }
  // Checks only the required members of the contract.
  if (typeof (model as ChatModel | undefined)?.chat === "function") return model as ChatModel;
  throw new PluginError(
    `Provider '${provider.name}' must make a ChatModel of '${modelId}', got: ${preview(model)}`,
    { plugin: provider.name, hook: "create" },
  );
}
