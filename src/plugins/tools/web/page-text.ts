import type { Worker } from "node:worker_threads";
import { ToolConfigurationError } from "../../../contracts/errors.js";
import { FetchError } from "../../../contracts/state-errors.js";
import { preview } from "../../../contracts/validation.js";
import { settleWithin } from "../../../util/abort/timeouts.js";
import { messageOf } from "../../../util/errors.js";
import { addressOfOptional } from "../../../util/import-optional.js";

/** The target format of a page. */
export type PageFormat = "text" | "markdown";

/** One page to convert. */
export interface PageTextRequest {
  readonly html: string;
  readonly format: PageFormat;
  /** URL of the page. Links are relative to it. */
  readonly url: string;
  /** Maximum number of characters to return. */
  readonly limit: number;
}

/** Input of the worker thread. */
export interface PageTask extends PageTextRequest {
  /** URL of the module that converts. */
  readonly converter: string;
}

/**
 * Result of the worker thread: a text with at most `limit` characters, or the reason for a failure.
 * `length` is the length of the complete text.
 */
export type PageReply =
  | { readonly kind: "text"; readonly text: string; readonly length: number }
  | { readonly kind: "missing"; readonly message: string };

const PACKAGES: Readonly<Record<PageFormat, string>> = {
  text: "html-to-text",
  markdown: "turndown",
};
const MEMORY_MB = 256;
/**
 * Size of the stack in MB, larger than the main thread's, because converters recurse into elements.
 * Deeper nesting ends the thread with an error.
 */
const STACK_MB = 8;

/** A converted page. */
export interface PageText {
  readonly text: string;
  readonly truncated: boolean;
}

/**
 * Converts a page into text in a worker thread. Memory and stack are limited. The signal limits the
 * time. In the main thread, a malicious page could block the event loop for minutes or crash the
 * process.
 * @throws FetchError for a page that can't be converted; ToolConfigurationError if the converter
 * package is missing; the reason of the signal
 */
export async function convertPage(
  request: PageTextRequest,
  signal: AbortSignal,
): Promise<PageText> {
  let converter: string;
  try {
    converter = addressOfOptional(PACKAGES[request.format]);
  } catch (error) {
    return pageTextOf({ kind: "missing", message: messageOf(error) }, request);
  }
  return pageTextOf(await askWorker({ ...request, converter }, signal), request);
}

/**
 * Converts the reply of the thread.
 * @throws FetchError, ToolConfigurationError
 */
export function pageTextOf(
  reply: PageReply,
  { format }: Pick<PageTextRequest, "format">,
): PageText {
  if (reply.kind === "text")
    return { text: reply.text, truncated: reply.length > reply.text.length };
  const name = PACKAGES[format];
  throw new ToolConfigurationError(
    `web_scrape needs the package ${name} for the format "${format}", and it could not be loaded: ${reply.message}`,
    {
      hint: `Run: npm install ${name}`,
    },
  );
}

async function askWorker(request: PageTask, signal: AbortSignal): Promise<PageReply> {
  const threads = await import("node:worker_threads");
  signal.throwIfAborted();
  const worker = new threads.Worker(new URL("./page-worker.js", import.meta.url), {
    workerData: request,
    env: {}, // pages need no environment variables
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, stackSizeMb: STACK_MB },
  });
  const reply = new Promise<PageReply>((resolve, reject) =>
    listenToWorker(worker, resolve, reject),
  );
  try {
    return await settleWithin(reply, signal);
  } finally {
    await worker.terminate();
  }
}

function listenToWorker(
  worker: Worker,
  resolve: (reply: PageReply) => void,
  reject: (error: FetchError) => void,
): void {
  worker.on("message", resolve);
  worker.on("error", (cause) =>
    reject(pageError(`it can't be parsed (${preview(messageOf(cause))})`, cause)),
  );
  worker.on("exit", () => reject(pageError("it can't be parsed")));
}

function pageError(reason: string, cause?: unknown): FetchError {
  return new FetchError(
    `the page can't be read: ${reason}`,
    { reason: "bad_response" },
    cause === undefined ? {} : { cause },
  );
}
