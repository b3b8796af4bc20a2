import type { Fields } from "../../../util/objects.js";
import { withTimeout } from "../../../util/abort/timeouts.js";
import { messageOf } from "../../../util/errors.js";
import { parseWithoutRefusedKeys } from "../../../util/json/refused-keys.js";
import { JsonScanner } from "../../../util/json/scanner.js";
import { isObject } from "../../../util/objects.js";
import { badRequest, HttpRefusal } from "./http-refusal.js";

/** Maximum nesting of objects and lists. */
const MAX_DEPTH = 64;

export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
}

/**
 * Reads the JSON object in the body of a request.
 * @throws HttpRefusal with one of these statuses:
 * - 408 if the body does not arrive in time
 * - 413 if the body exceeds the limit
 * - 415 for another media type
 * - 400 for a text that is not a JSON object, is nested too deeply, or accesses the prototype
 */
export async function readJsonObject(request: Request, limits: BodyLimits): Promise<Fields> {
  return jsonObjectIn(await readJsonText(request, limits));
}

/** Reads the text of a body that should be JSON. @throws HttpRefusal as `readJsonObject`. */
export async function readJsonText(request: Request, limits: BodyLimits): Promise<string> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type))
    throw new HttpRefusal(415, "NOT_JSON", "The Content-Type must be application/json");
  const { bodyTimeoutMs: ms } = limits;
  return withTimeout((signal) => bodyTextOf(request, limits.maxBodyBytes, signal), {
    ms,
    signal: request.signal,
    late: (): never => {
      throw new HttpRefusal(408, "BODY_TIMEOUT", `The body did not arrive within ${ms} ms`);
    },
  });
}

/** Parses the JSON object in a text. @throws HttpRefusal 400 for another text. */
export function jsonObjectIn(text: string): Fields {
  let body: unknown;
  try {
    body = parseWithoutRefusedKeys(text);
  } catch (error) {
    const message = error instanceof SyntaxError ? "it is not valid JSON" : messageOf(error);
    throw badRequest(`The body is refused: ${message}`);
  }
  if (isObject(body)) return body;
  throw badRequest("The body must be a JSON object");
}

/** @throws HttpRefusal, the reason of the signal, and the errors of the body stream. */
async function bodyTextOf(
  request: Request,
  maxBytes: number,
  signal: AbortSignal,
): Promise<string> {
  const tooLarge = (): HttpRefusal =>
    new HttpRefusal(413, "BODY_TOO_LARGE", `The body is larger than ${maxBytes} bytes`);
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge();
  const reader = request.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined; // bodies of requests are bytes
  if (reader === undefined) return "";
  const leave = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", leave, { once: true });
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const scanner = new JsonScanner();
  let text = "";
  let size = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.length;
      if (size > maxBytes) throw tooLarge();
      for (const byte of part.value) scanner.scan(byte);
      if (scanner.deepest > MAX_DEPTH)
        throw badRequest(`The body is nested deeper than ${MAX_DEPTH} levels`);
      text += decodedPart(decoder, part.value);
    }
    signal.throwIfAborted();
    return text + decodedPart(decoder);
  } catch (error) {
    leave();
    throw error;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

function decodedPart(decoder: InstanceType<typeof TextDecoder>, bytes?: Uint8Array): string {
  try {
    return decoder.decode(bytes, { stream: bytes !== undefined });
  } catch {
    throw badRequest("The body is not UTF-8");
  }
}
