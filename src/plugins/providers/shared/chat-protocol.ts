import type { ChatChunk, ChatRequest, ChatResponse } from "../../../contracts/chat-model.js";
import type { NullRemover } from "./strict-nulls.js";
import type { Fields } from "../../../util/objects.js";

/** A request in a vendor's form. */
export interface WireRequest {
  readonly body: object;
  /** Removes from the response the nulls that a strict schema has caused. */
  readonly nulls: NullRemover;
}

/** The target of a request. */
export interface WireTarget {
  readonly modelId: string;
  /** Whether the target is the vendor itself. Other servers support only the older parameters. */
  readonly isVendor: boolean;
  /** URL of the API. */
  readonly baseURL: string;
  readonly stream: boolean;
}

/** Assembles a streamed response event by event. */
export interface StreamedAnswer {
  /** The text received so far. */
  readonly text: string;
  /**
   * Whether the model has sent its finish reason. A later connection failure does not invalidate
   * the response.
   */
  readonly isFinished: boolean;
  /** Whether no more events follow. */
  readonly isClosed: boolean;
  /**
   * Adds the parsed data of an event. Returns the resulting chunks.
   * @throws InvalidResponseError, ErrorDocument
   */
  add(event: Fields): readonly ChatChunk[];
  /**
   * Returns the whole response.
   * @throws InvalidResponseError if the stream ended before the model finished
   */
  finish(): ChatResponse;
}

/** The encoding of a vendor's requests and responses. Sending is the same for all vendors. */
export interface ChatProtocol {
  readonly path: string;
  /** Encodes a request. `providerOptions` override all settings except `stream`. */
  write(request: ChatRequest, target: WireTarget): WireRequest;
  /**
   * Reads a whole response.
   * @throws InvalidResponseError naming the first invalid part
   */
  read(document: Fields): ChatResponse;
  readStream(): StreamedAnswer;
}
