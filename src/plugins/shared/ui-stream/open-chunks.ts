import type { RunHandle } from "../../../contracts/run.js";
import type { UIStreamOptions } from "../../../contracts/ui-stream.js";
import type { PageStream } from "./page-stream.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { isObject } from "../../../util/objects.js";
import { AgUiConverter } from "./ag-ui-converter.js";
import { ResponseChunks } from "./response-chunks.js";
import { RunChunks } from "./run-chunks.js";
import { UIConverter } from "./ui-converter.js";

/** The property of a handle that has its stream. The events of a handle can be read only once. */
const STREAM: unique symbol = Symbol("agentensemble/page-stream");

export interface ChunksOptions extends UIStreamOptions {
  readonly protocol: "ui" | "ag-ui";
  /**
   * AG-UI requires one; default: the id of the run. In UI message streams it is metadata of the
   * message.
   */
  readonly threadId?: string | undefined;
}

interface Streamed extends RunHandle {
  [STREAM]?: { readonly protocol: string; readonly chunks: RunChunks; response: ResponseChunks };
}

/** Creates a converter for one run, for its live events or for its log. */
export function pageStream(runId: string, o: ChunksOptions): PageStream {
  return o.protocol === "ui"
    ? new UIConverter(runId, o, o.threadId)
    : new AgUiConverter({ runId, threadId: o.threadId }, o);
}

/**
 * Returns the parts of a run in progress. If the previous response ended because the run waits for
 * people, returns the parts that follow it. The content options of the first response apply.
 * @throws ValidationError for a value that is no handle, or for another protocol than in the
 * previous response. Also for a run whose stream is being read or was read to its end.
 */
export function openChunks(handle: RunHandle, o: ChunksOptions): ResponseChunks {
  if (!isObject(handle) || !isObject(handle.events))
    throw new ValidationError(`A stream for a page needs a run handle, got: ${preview(handle)}`, {
      hint: "Pass ensemble.stream(inputs) or thread.stream(message), not an ensemble or the result of run() or send().",
    });
  const streamed: Streamed = handle; // the symbol belongs to this module
  const before = streamed[STREAM];
  if (before === undefined) {
    const chunks = new RunChunks(handle, pageStream(handle.id, o), o);
    const response = new ResponseChunks(chunks);
    Object.defineProperty(streamed, STREAM, { value: { protocol: o.protocol, chunks, response } });
    return response;
  }
  if (!before.chunks.isPaused)
    throw new ValidationError(`The events of run '${handle.id}' are read by another stream`, {
      hint: "Make one stream of a run, and keep it in a StreamStore for further readers.",
    });
  if (before.protocol !== o.protocol)
    throw new ValidationError(
      `The stream of run '${handle.id}' continues in the protocol of its first response, ${before.protocol}`,
    );
  before.response = before.response.follow(o);
  return before.response;
}
