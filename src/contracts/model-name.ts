import type { ChatModel, ChatModelProvider } from "./chat-model.js";
import { AgentEnsembleError, PluginError, ValidationError } from "./errors.js";
import { knownNames, preview } from "./validation.js";
import { messageOf } from "../util/errors.js";

/** Makes the model that a reference like `openai:gpt-4o-mini` names. @throws ValidationError naming the providers there are; as {@link createModel}. */
export function modelNamed(ref: string, providers: readonly ChatModelProvider[]): ChatModel {
  const [, name, modelId] = /^([^:]*):(.+)$/s.exec(ref) ?? [];
  const provider = providers.findLast((p) => p.name === name);
  if (name === undefined || modelId === undefined || provider === undefined)
    throw unknownModel(ref, name, providers);
  return createModel(provider, modelId);
}

/** `provider` is undefined where the reference is none. */
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
    "Write provider:model, for instance openai:gpt-4o-mini; a provider is added by its plugin.";
  if (provider === undefined)
    return new ValidationError(`Model ${preview(ref)} names no provider and model. ${names}`, {
      hint,
    });
  return new ValidationError(
    `Unknown model provider '${provider}' in model ${preview(ref)}. ${names}`,
    { hint },
  );
}

/** @throws what the provider throws, where that is one of our errors; PluginError for everything else, and for what is no model. */
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
  if (typeof (model as ChatModel | undefined)?.chat === "function") return model as ChatModel; // checked as far as the contract demands it
  throw new PluginError(
    `Provider '${provider.name}' must make a ChatModel of '${modelId}', got: ${preview(model)}`,
    { plugin: provider.name, hook: "create" },
  );
}
