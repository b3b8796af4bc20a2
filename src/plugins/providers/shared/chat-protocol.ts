import type { ChatChunk, ChatRequest, ChatResponse } from "../../../contracts/chat-model.js";
import type { NullRemover } from "./strict-nulls.js";
import type { Fields } from "../../../util/objects.js";

/** A request in a vendor's form. */
export interface WireRequest {
  readonly body: object;
  /** What takes out of the answer the nulls that a strict schema asked for. */
  readonly nulls: NullRemover;
}

/** What a request is written for. */
export interface WireTarget {
  readonly modelId: string;
  /** Whether the vendor itself is asked; other servers know only the older parameters. */
  readonly isVendor: boolean;
  readonly stream: boolean;
}

/** Puts a streamed answer together, event by event. */
export interface StreamedAnswer {
  /** The text that has come so far. */
  readonly text: string;
  /** Whether the model has said why it stopped: a connection that breaks afterwards does not undo the answer. */
  readonly isFinished: boolean;
  /** Whether nothing more is to come. */
  readonly isClosed: boolean;
  /** Takes the parsed data of an event and says what it adds. @throws InvalidResponseError, ErrorDocument. */
  add(event: Fields): readonly ChatChunk[];
  /** The whole response. @throws InvalidResponseError when the stream ended before the model did. */
  finish(): ChatResponse;
}

/** How a vendor's API writes requests and answers. Sending them is the same for all. */
export interface ChatProtocol {
  readonly path: string;
  /** Writes a request; `providerOptions` come last, so they win. */
  write(request: ChatRequest, target: WireTarget): WireRequest;
  /** Reads a whole answer. @throws InvalidResponseError naming the first part that is not as it must be. */
  read(document: Fields): ChatResponse;
  readStream(): StreamedAnswer;
}
