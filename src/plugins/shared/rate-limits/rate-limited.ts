import type {
  ChatCallOptions,
  ChatChunk,
  ChatModel,
  ChatRequest,
  ChatResponse,
  ModelCapabilities,
} from "../../../contracts/chat-model.js";
import type { OwnedRateLimit } from "../../../contracts/hooks.js";
import type { RateLimit } from "../../../contracts/rate-limit.js";
import { checkModel } from "../../../contracts/agent.js";
import { ValidationError } from "../../../contracts/errors.js";
import { checkRateLimit } from "../../../contracts/rate-limit.js";
import { preview } from "../../../contracts/validation.js";

type Stream = (request: ChatRequest, options?: ChatCallOptions) => AsyncIterable<ChatChunk>;

/** Wraps a model with a rate limit. The limit of the model also applies. */
class RateLimitedModel implements ChatModel {
  readonly provider: string;
  readonly modelId: string;
  readonly capabilities: ModelCapabilities | undefined;
  readonly rateLimit: RateLimit;
  readonly stream?: Stream;
  readonly redact?: (text: string) => string;
  readonly identity?: () => string;
  readonly check?: () => void;
  readonly #inner: ChatModel;

  constructor(inner: ChatModel, rateLimit: RateLimit) {
    this.provider = inner.provider;
    this.modelId = inner.modelId;
    this.capabilities = inner.capabilities;
    this.rateLimit = rateLimit;
    this.#inner = inner;
    const { stream } = inner;
    if (stream !== undefined)
      this.stream = (request, options) => stream.call(inner, request, options);
    if (inner.check !== undefined) this.check = () => inner.check?.();
    if (inner.identity !== undefined) this.identity = () => inner.identity?.() ?? "";
    if (inner.redact !== undefined) this.redact = (text) => inner.redact?.(text) ?? text;
    Object.freeze(this);
  }

  chat(request: ChatRequest, options?: ChatCallOptions): Promise<ChatResponse> {
    return this.#inner.chat(request, options);
  }

  static innerOf(owner: object): ChatModel | undefined {
    return #inner in owner ? owner.#inner : undefined;
  }
}

/**
 * Returns the model with a rate limit for all its calls. A limit that the model already has also
 * applies. The window belongs to the returned object: share the object to share the limit within
 * one kernel.
 * @throws ValidationError for a value that is not a model object or a RateLimit.
 */
export function rateLimited(model: ChatModel, limit: RateLimit): ChatModel {
  if (typeof model === "string") {
    throw new ValidationError(`rateLimited needs a model object, got the name: ${preview(model)}`, {
      hint: "Make the model first, for instance with openai(...); or set rateLimit on the agent, the task or the ensemble.",
    });
  }
  checkModel("rateLimited model", model);
  if (model === undefined || limit === undefined)
    throw new ValidationError("rateLimited needs a model and a RateLimit, got: undefined");
  checkRateLimit("rateLimited limit", limit);
  return new RateLimitedModel(model, limit);
}

/** Returns the limits of a call, with those of wrapped models among their owners. */
export function withInnerLimits(owned: readonly OwnedRateLimit[]): readonly OwnedRateLimit[] {
  const all = [...owned];
  for (const { owner } of all) {
    const inner = RateLimitedModel.innerOf(owner);
    // its own inner models are checked by the same loop
    if (inner?.rateLimit !== undefined) all.push({ owner: inner, limit: inner.rateLimit });
  }
  return all;
}
