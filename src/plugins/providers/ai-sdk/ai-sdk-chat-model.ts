import type {
  ChatCallOptions,
  ChatChunk,
  ChatModel,
  ChatRequest,
  ChatResponse,
  ModelCapabilities,
} from "../../../contracts/chat-model.js";
import { InvalidResponseError } from "../shared/invalid-response-error.js";
import { CallDeadline } from "../shared/call-deadline.js";
import { FailureReport } from "../shared/failures.js";

import type { AiSdkLanguageModel } from "./ai-sdk-model.js";
import { reasoningSettings } from "./reasoning-options.js";
import { readResult, StreamedParts } from "./answer.js";
import { toCallOptions, type VendorCallOptions } from "./call-options.js";
import { toModelCallError } from "./failures.js";
import type { ResolvedAiSdkOptions } from "./ai-sdk-options.js";
import { asFields } from "../../../util/objects.js";

/** The model with methods that accept the options of its specification. */
interface CallableModel {
  doGenerate(options: VendorCallOptions): PromiseLike<unknown>;
  doStream(options: VendorCallOptions): PromiseLike<unknown>;
}

/** Adapts a model of the AI SDK to the framework's ChatModel. */
export class AiSdkChatModel implements ChatModel {
  readonly provider: string;
  readonly modelId: string;
  readonly capabilities: ModelCapabilities;
  readonly identity?: () => string;
  readonly #model: CallableModel;
  readonly #options: ResolvedAiSdkOptions;

  constructor(model: AiSdkLanguageModel, options: ResolvedAiSdkOptions) {
    this.provider = model.provider;
    this.modelId = model.modelId;
    this.capabilities = Object.freeze({
      structuredOutput: options.structuredOutput,
      retry: Object.freeze({ maxAttempts: 3 }),
      parts: options.parts,
      reasoning: reasoningSettings(model.provider),
    });
    this.#model = model; // the options match its specification
    this.#options = options;
    const { identity } = options;
    if (identity !== undefined) this.identity = () => identity;
    Object.freeze(this);
  }

  /** @throws ModelCallError, or the signal's reason if aborted */
  async chat(request: ChatRequest, options: ChatCallOptions = {}): Promise<ChatResponse> {
    const deadline = this.#open(options, () => "");
    try {
      return readResult(
        await deadline.race(this.#model.doGenerate(this.#callOptions(request, deadline))),
        this,
      );
    } catch (error) {
      throw this.#failure(error, deadline, "");
    } finally {
      deadline.close({ isDone: false });
    }
  }

  /**
   * @throws ModelCallError with the text received so far as `partialText`, or the signal's reason
   * if aborted
   */
  async *stream(
    request: ChatRequest,
    options: ChatCallOptions = {},
  ): AsyncGenerator<ChatChunk, void, undefined> {
    const answer = new StreamedParts(this);
    const deadline = this.#open(options, () => answer.text);
    let reader: ReadableStreamDefaultReader<unknown> | undefined;
    try {
      reader = readerOf(
        await deadline.race(this.#model.doStream(this.#callOptions(request, deadline))),
      );
      for (
        let next = await deadline.race(reader.read());
        !next.done;
        next = await deadline.race(reader.read())
      ) {
        const part = asFields(next.value);
        if (part?.["type"] === "error") throw part["error"];
        yield* answer.add(part);
      }
      // A model may end its stream without an error when it is aborted.
      deadline.signal.throwIfAborted();
      yield { type: "finish", response: answer.finish() };
    } catch (error) {
      throw this.#failure(error, deadline, answer.text);
    } finally {
      deadline.close({ isDone: false });
      // Not awaited, so a stream can't delay the end of the call. A stream that has failed can't be
      // cancelled.
      reader?.cancel().catch(() => undefined);
    }
  }

  #open(options: ChatCallOptions, partialText: () => string): CallDeadline {
    options.signal?.throwIfAborted();
    const { limits } = this.#options;
    const vendor = { name: this.provider, keyVariable: "", urlHint: "" };
    return new CallDeadline(options.signal, limits, (exceeded) => {
      const report = new FailureReport({
        vendor,
        modelId: this.modelId,
        partialText: partialText(),
        endpoint: undefined,
      });
      return report.timeout(exceeded, limits[exceeded]);
    });
  }

  #callOptions(request: ChatRequest, deadline: CallDeadline): VendorCallOptions {
    return toCallOptions(request, {
      specification: this.#options.specification,
      provider: this.provider,
      signal: deadline.signal,
    });
  }

  #failure(error: unknown, deadline: CallDeadline, partialText: string): unknown {
    if (deadline.signal.aborted) return deadline.signal.reason;
    return toModelCallError(error, { provider: this.provider, modelId: this.modelId, partialText });
  }
}

/** Returns the reader of the stream. The stream need not be an object of the platform's class. */
function readerOf(result: unknown): ReadableStreamDefaultReader<unknown> {
  const stream = asFields(asFields(result)?.["stream"]);
  if (typeof stream?.["getReader"] !== "function")
    throw new InvalidResponseError("The model's result has no stream", { shown: result });
  return (stream as unknown as ReadableStream<unknown>).getReader(); // only its reader is used
}
