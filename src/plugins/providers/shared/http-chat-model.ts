import type {
  ChatCallOptions,
  ChatChunk,
  ChatModel,
  ChatRequest,
  ChatResponse,
  ModelCapabilities,
} from "../../../contracts/chat-model.js";
import { InvalidResponseError, ErrorDocument } from "./invalid-response-error.js";
import type { ChatProtocol, StreamedAnswer } from "./chat-protocol.js";
import type { GuardedBody } from "./guarded-body.js";
import type { Fields } from "../../../util/objects.js";
import { HttpCall, type TextLine } from "./http-call.js";
import { parseGuarded } from "./json-guard.js";
import { reasoningChunks } from "./reasoning.js";
import { asFields } from "../../../util/objects.js";

/** The data with which some vendors end a stream. */
const END_MARK = "[DONE]";

/** Returns the chunks of a response that arrived as a whole. */
function* chunksOf(response: ChatResponse): Generator<ChatChunk> {
  const { content, toolCalls = [], reasoning = [] } = response.message;
  for (const [index, { text }] of reasoning.entries()) yield* reasoningChunks(index, text);
  if (content !== "") yield { type: "text", text: content };
  for (const [index, call] of toolCalls.entries())
    yield {
      type: "tool_call",
      index,
      id: call.id,
      name: call.name,
      argumentsDelta: call.arguments,
    };
  yield { type: "finish", response };
}

/**
 * Parses the data of an event.
 * @throws InvalidResponseError if it is not a JSON object; ErrorDocument for an error that the
 * server reports
 */
function readEvent(data: string): Fields {
  const event = asFields(parseGuarded(data, "A part of the stream"));
  if (event === undefined)
    throw new InvalidResponseError("A part of the stream is not a JSON object", { shown: data });
  if (event["error"] !== undefined && event["error"] !== null) throw new ErrorDocument(event);
  return event;
}

/** A streamed response in progress. */
interface OpenStream {
  readonly call: HttpCall;
  readonly body: GuardedBody;
  readonly answer: StreamedAnswer;
}

/** The result of a chunk of the body: all events up to the first invalid one. */
interface TakenEvents {
  readonly chunks: readonly ChatChunk[];
  readonly isLast: boolean;
  readonly error?: { readonly cause: unknown };
}

function takeEvents(answer: StreamedAnswer, read: () => readonly string[]): TakenEvents {
  const chunks: ChatChunk[] = [];
  try {
    for (const data of read()) {
      if (data === END_MARK) return { chunks, isLast: true };
      chunks.push(...answer.add(readEvent(data)));
      if (answer.isClosed) return { chunks, isLast: true };
    }
    return { chunks, isLast: false };
  } catch (cause) {
    return { chunks, isLast: false, error: { cause } };
  }
}

/**
 * A model that is called over HTTP. It does not store the key. Only the connector's closure
 * contains the key.
 */
export class HttpChatModel implements ChatModel {
  readonly provider: string;
  readonly modelId: string;
  readonly capabilities: ModelCapabilities;
  readonly #line: TextLine;
  readonly #protocol: ChatProtocol;

  constructor(
    modelId: string,
    o: {
      readonly line: TextLine;
      readonly protocol: ChatProtocol;
      readonly capabilities: ModelCapabilities;
    },
  ) {
    this.provider = o.line.vendor.name;
    this.modelId = modelId;
    this.capabilities = Object.freeze(o.capabilities);
    this.#line = o.line;
    this.#protocol = o.protocol;
    Object.freeze(this);
  }

  /** @throws ModelCallError for a missing or malformed key or URL */
  check(): void {
    this.#line.connector.check(this.modelId);
  }

  identity(): string {
    return this.#line.connector.identity(this.modelId);
  }

  redact(text: string): string {
    return this.#line.redact(text);
  }

  /** @throws ModelCallError, or the signal's reason if aborted */
  async chat(request: ChatRequest, options: ChatCallOptions = {}): Promise<ChatResponse> {
    const { modelId } = this;
    const call = new HttpCall(this.#line, { modelId, signal: options.signal });
    let isComplete = false;
    try {
      const endpoint = await call.connect();
      const wire = this.#protocol.write(request, {
        modelId,
        isVendor: endpoint.isVendor,
        baseURL: endpoint.baseURL,
        stream: false,
      });
      const document = await call.readDocument(
        await call.post(endpoint, this.#protocol.path, wire.body),
      );
      isComplete = true;
      return wire.nulls.response(this.#protocol.read(document));
    } catch (error) {
      throw await call.failure(error);
    } finally {
      await call.close({ isComplete });
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
    const { modelId } = this;
    const answer = this.#protocol.readStream();
    const call = new HttpCall(this.#line, {
      modelId,
      signal: options.signal,
      partialText: () => answer.text,
    });
    let isComplete = false;
    try {
      const endpoint = await call.connect();
      const wire = this.#protocol.write(request, {
        modelId,
        isVendor: endpoint.isVendor,
        baseURL: endpoint.baseURL,
        stream: true,
      });
      const body = await call.post(endpoint, this.#protocol.path, wire.body);
      const begun = await this.#begin(body);
      if (/^\s*[[{<"]/.test(begun)) {
        // The server does not stream, or it returned a page.
        yield* chunksOf(
          wire.nulls.response(this.#protocol.read(await call.readDocument(body, begun))),
        );
        return;
      }
      const held = wire.nulls.holdBack();
      for await (const chunks of this.#events({ call, body, answer }, begun))
        yield* held.add(chunks);
      const response = wire.nulls.response(answer.finish());
      isComplete = true;
      yield* held.rest(response);
      yield { type: "finish", response };
    } catch (error) {
      throw await call.failure(error);
    } finally {
      await call.close({ isComplete });
    }
  }

  /**
   * Returns the first chunk of the body that is not blank. Leading blank lines have no meaning in
   * any response.
   */
  async #begin(body: GuardedBody): Promise<string> {
    for (let piece = await body.next(); piece !== undefined; piece = await body.next())
      if (piece.trim() !== "") return piece;
    return "";
  }

  /**
   * Yields the result of each chunk of the body, until the response is complete. A failure after
   * the model has finished does not invalidate the response.
   */
  async *#events(
    { call, body, answer }: OpenStream,
    begun: string,
  ): AsyncGenerator<readonly ChatChunk[], void, undefined> {
    const { ServerSentEvents } = await import("./server-sent-events.js");
    const events = new ServerSentEvents();
    let piece: string | undefined = begun;
    while (piece !== undefined) {
      const { chunks, isLast, error } = takeEvents(answer, () => events.add(piece ?? ""));
      if (chunks.length > 0) yield chunks;
      if (isLast || (error !== undefined && answer.isFinished)) return;
      if (error !== undefined) throw error.cause;
      try {
        piece = await body.next();
      } catch (broken) {
        if (answer.isFinished && !call.cancelled) return;
        throw broken;
      }
    }
    const { chunks, error } = takeEvents(answer, () => events.end());
    if (chunks.length > 0) yield chunks;
    if (error !== undefined && !answer.isFinished) throw error.cause;
  }
}
