import type { Worker } from "node:worker_threads";
import { ToolConfigurationError } from "../../../contracts/errors.js";
import { FetchError } from "../../../contracts/state-errors.js";
import { preview } from "../../../contracts/validation.js";
import { settleWithin } from "../../../util/abort/timeouts.js";
import { messageOf } from "../../../util/errors.js";
import { addressOfOptional } from "../../../util/import-optional.js";

/** What a page is turned into. */
export type PageFormat = "text" | "markdown";

/** One page to convert. */
export interface PageTextRequest {
  readonly html: string;
  readonly format: PageFormat;
  /** Where it came from: links are relative to it. */
  readonly url: string;
  /** Characters that are wanted. */
  readonly limit: number;
}

/** What the thread gets. */
export interface PageTask extends PageTextRequest {
  /** The address of the package that converts. */
  readonly converter: string;
}

/** What the thread says: the text, at most `limit` characters of its `length`; or why there is none. */
export type PageReply =
  | { readonly kind: "text"; readonly text: string; readonly length: number }
  | { readonly kind: "missing"; readonly message: string };

const PACKAGES: Readonly<Record<PageFormat, string>> = {
  text: "html-to-text",
  markdown: "turndown",
};
const MEMORY_MB = 256;
/** More stack than the main thread has, since converters go into elements by recursion; elements that lie deeper end the thread with an error. */
const STACK_MB = 8;

/** A converted page. */
export interface PageText {
  readonly text: string;
  readonly truncated: boolean;
}

/**
 * Turns a page into text in a separate thread, with limits on its memory, its stack and, by the signal, its time: a page can be made so that this
 * takes minutes or ends a process, and nothing else would run meanwhile.
 * @throws FetchError for a page that can't be converted, ToolConfigurationError where the package for it is missing, the signal's reason.
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

/** What a reply means. @throws FetchError, ToolConfigurationError. */
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
    env: {}, // a page has no business with them
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
