import type { RunHandle } from "../../../contracts/run.js";
import type { UIChunk, UIStreamOptions } from "../../../contracts/ui-stream.js";
import type { PageResponseOptions } from "../shared/page-response-options.js";
import { requireText } from "../../../contracts/validation.js";
import { chunkResponse } from "../../shared/ui-stream/chunk-response.js";
import { openChunks } from "../../shared/ui-stream/open-chunks.js";
import { checkUIStreamOptions } from "../../shared/ui-stream/ui-stream-options.js";
import { checkPageResponse } from "../shared/page-response-options.js";

/** Options of the AG-UI functions. */
export interface AgUiOptions extends UIStreamOptions {
  /** The id of the client's thread. Default: the id of the run. */
  readonly threadId?: string | undefined;
}

/**
 * Returns the run as events of AG-UI. The first event is `RUN_STARTED`. The last event is
 * `RUN_FINISHED` or `RUN_ERROR`. The contents equal those of a UI message stream with the same
 * options. Leaving the loop early cancels the run, unless `onDisconnect` is `finish`. A second call
 * behaves as in `toUIMessageStream`.
 *
 * @throws ValidationError for invalid options, and for a run whose events are already being read.
 */
export function toAgUiEvents(handle: RunHandle, o: AgUiOptions = {}): AsyncIterable<UIChunk> {
  checkAgUiOptions("toAgUiEvents", o);
  const chunks = openChunks(handle, { ...o, protocol: "ag-ui" });
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const value = await chunks.next();
        return value === undefined ? { done: true, value } : { done: false, value };
      },
      return: () => {
        chunks.leave();
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
}

/**
 * Returns the same events as a response of server-sent events. Default status 200.
 * @throws ValidationError as `toAgUiEvents`.
 */
export function toAgUiResponse(
  handle: RunHandle,
  { status, headers, ...o }: AgUiOptions & PageResponseOptions = {},
): Response {
  checkPageResponse("toAgUiResponse", { status, headers });
  checkAgUiOptions("toAgUiResponse", o);
  const chunks = openChunks(handle, { ...o, protocol: "ag-ui" });
  return chunkResponse(chunks, { status, headers, protocol: "ag-ui" });
}

function checkAgUiOptions(what: string, o: AgUiOptions): void {
  checkUIStreamOptions(what, o, ["threadId"]);
  if (o.threadId !== undefined)
    requireText(o.threadId, `${what} threadId must not be blank when set`);
}
