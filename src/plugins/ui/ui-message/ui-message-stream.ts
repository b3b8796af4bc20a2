import type { RunHandle } from "../../../contracts/run.js";
import type { UIChunk, UIStreamOptions } from "../../../contracts/ui-stream.js";
import type { PageResponseOptions } from "../shared/page-response-options.js";
import { chunkResponse, chunkStream } from "../../shared/ui-stream/chunk-response.js";
import { openChunks } from "../../shared/ui-stream/open-chunks.js";
import { checkUIStreamOptions } from "../../shared/ui-stream/ui-stream-options.js";
import { checkPageResponse } from "../shared/page-response-options.js";

/**
 * Returns the run as parts of the UI message stream of the AI SDK. The first part is `start`. The
 * last part is `finish`, `error` or `abort`. The stream reads the events of the handle, so no other
 * reader can read them. Cancelling the stream cancels the run, unless `onDisconnect` is `finish`. A
 * run has one stream. If the response ended because of `endAtApproval`, a second call returns the
 * parts that follow.
 *
 * @throws ValidationError for invalid options, and for a run whose events are already being read.
 */
export function toUIMessageStream(
  handle: RunHandle,
  o: UIStreamOptions = {},
): ReadableStream<UIChunk> {
  checkUIStreamOptions("toUIMessageStream", o);
  return chunkStream(openChunks(handle, { ...o, protocol: "ui" }));
}

/**
 * Returns the same stream as a response of server-sent events, for `useChat` of the AI SDK. Default
 * status 200.
 *
 * @throws ValidationError as `toUIMessageStream`.
 */
export function toUIMessageStreamResponse(
  handle: RunHandle,
  { status, headers, ...o }: UIStreamOptions & PageResponseOptions = {},
): Response {
  checkPageResponse("toUIMessageStreamResponse", { status, headers });
  checkUIStreamOptions("toUIMessageStreamResponse", o);
  const chunks = openChunks(handle, { ...o, protocol: "ui" });
  return chunkResponse(chunks, { status, headers, protocol: "ui" });
}
