import type {
  ChatCallOptions,
  ChatChunk,
  ChatModel,
  ChatRequest,
  ChatResponse,
} from "../../contracts/chat-model.js";
import type { CallResult, StoredChunk } from "./recording-format.js";
import { storeError } from "../shared/stored-error.js";

/**
 * Records the end of a call. `messageCount` is the length of the conversation when it was sent,
 * because it grows afterwards.
 */
export type Note = (
  request: ChatRequest,
  messageCount: number,
  startedMs: number,
  result: CallResult,
) => void;

const RECORDED = Symbol("recorded");

/** The additional fields of a recording model. */
interface Recorded {
  readonly inner: ChatModel;
  /** Returns the same listener for another model. */
  around(inner: ChatModel): ChatModel;
}

/**
 * Returns the additional fields of a model with a listener. Returns `undefined` for any other
 * model.
 */
export function recordedOf(model: ChatModel): Recorded | undefined {
  return (model as { readonly [RECORDED]?: Recorded })[RECORDED]; // only this file sets the field
}

/**
 * Returns the model of one call, with a listener. Each response, in any form, is recorded before
 * the caller receives it.
 */
export function recordingModel(model: ChatModel, note: Note): ChatModel {
  const { provider, modelId, capabilities, rateLimit } = model;
  const wraps = model.wraps ?? model;
  const base = {
    ...{ provider, modelId, capabilities, rateLimit, wraps },
    chat: chatOf(model, note),
    ...(model.redact !== undefined && { redact: model.redact.bind(model) }),
    [RECORDED]: { inner: model, around: (inner: ChatModel) => recordingModel(inner, note) },
  };
  return model.stream === undefined
    ? base
    : { ...base, stream: recordedStream(model.stream.bind(model), note) };
}

/**
 * Returns the failure of a call. An error after the call was aborted is not a failure of the model.
 */
function failedCall(thrown: unknown, signal: AbortSignal | undefined): CallResult {
  return signal?.aborted === true ? { aborted: true } : { error: storeError(thrown) };
}

function chatOf(model: ChatModel, note: Note): ChatModel["chat"] {
  return async (request, options) => {
    const startedMs = performance.now();
    const count = request.messages.length;
    let response: ChatResponse;
    try {
      response = await model.chat(request, options);
    } catch (error) {
      note(request, count, startedMs, failedCall(error, options?.signal));
      throw error;
    }
    note(request, count, startedMs, { response });
    return response;
  };
}

function recordedStream(
  stream: NonNullable<ChatModel["stream"]>,
  note: Note,
): NonNullable<ChatModel["stream"]> {
  return async function* recorded(
    request: ChatRequest,
    options?: ChatCallOptions,
  ): AsyncGenerator<ChatChunk, void, undefined> {
    const startedMs = performance.now();
    const count = request.messages.length;
    const chunks: StoredChunk[] = [];
    let noted = false;
    const end = (result: CallResult): void => {
      if (noted) return;
      noted = true;
      note(request, count, startedMs, { ...result, chunks });
    };
    try {
      for await (const chunk of stream(request, options)) {
        if (chunk.type === "finish") end({ response: chunk.response });
        else chunks.push(chunk.type === "text" ? chunk.text : chunk);
        yield chunk;
      }
      end({}); // it stopped without its final event
    } catch (error) {
      end(failedCall(error, options?.signal));
      throw error;
    } finally {
      end({ aborted: true }); // the caller did not read the rest
    }
  };
}
