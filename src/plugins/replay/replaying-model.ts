import type {
  ChatCallOptions,
  ChatChunk,
  ChatModel,
  ChatRequest,
  ChatResponse,
} from "../../contracts/chat-model.js";
import type { CallResult } from "./recording-format.js";
import { restoreError } from "../shared/stored-error.js";

/** Answers a request from the recording. After a run has left its recording, the model answers. */
export type Answerer = (
  request: ChatRequest,
  signal: AbortSignal | undefined,
) => Promise<CallResult | "live">;

/**
 * Returns the model of one call. It returns the recorded response. Otherwise it behaves like the
 * model that it replaces. A call that the model answers itself is not marked as recorded, so that
 * its tokens and its cost are counted.
 */
export function replayingModel(model: ChatModel, answer: Answerer): ChatModel {
  const { provider, modelId } = model;
  const capabilities = { ...model.capabilities, exemptFromRateLimits: true, recorded: true };
  const answered: Answerer = async (request, signal) => {
    const result = await answer(request, signal);
    if (result === "live") capabilities.recorded = false; // wrappers of this model share the object
    return result;
  };
  const base: ChatModel = {
    provider,
    modelId,
    capabilities,
    wraps: model.wraps ?? model,
    chat: async (request, options) => {
      const result = await answered(request, options?.signal);
      return result === "live" ? model.chat(request, options) : responseOf(result);
    },
  };
  return model.stream === undefined
    ? base
    : { ...base, stream: replayedStream(model.stream.bind(model), answered) };
}

function responseOf({ response, error }: CallResult): ChatResponse {
  if (error !== undefined) throw restoreError(error);
  return response as ChatResponse; // an incomplete stream has no response, which the kernel reports
}

function replayedStream(
  stream: NonNullable<ChatModel["stream"]>,
  answer: Answerer,
): NonNullable<ChatModel["stream"]> {
  return async function* replayed(
    request: ChatRequest,
    options?: ChatCallOptions,
  ): AsyncGenerator<ChatChunk, void, undefined> {
    const result = await answer(request, options?.signal);
    if (result === "live") {
      yield* stream(request, options);
      return;
    }
    const { response, error, chunks } = result;
    for (const chunk of chunks ?? wholeText(response))
      yield typeof chunk === "string" ? { type: "text", text: chunk } : chunk;
    if (error !== undefined) throw restoreError(error);
    if (response !== undefined) yield { type: "finish", response };
  };
}

/** Returns an answer that was not streamed. */
function wholeText(response: ChatResponse | undefined): readonly string[] {
  const text: unknown = response?.message?.content;
  return typeof text === "string" && text !== "" ? [text] : [];
}
