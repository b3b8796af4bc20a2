import type { ChatModel, ContentPart } from "./chat-model.js";
import type { AnyTask } from "./task.js";
import {
  isKnownMediaType,
  mediaSourceOf,
  mediaTypeOfBase64,
  normalMediaType,
} from "../util/media.js";
import { ValidationError } from "./errors.js";
import { checkOptions, preview, requireText } from "./validation.js";

type ImagePart = Extract<ContentPart, { readonly type: "image" }>;

const BASE64 = /^[A-Za-z0-9+/_\-\s]+={0,2}\s*$/;
const SHAPES =
  'Write { type: "text", text: "..." } or { type: "image", data: "<base64 or address>", mediaType: "image/png" }.';

/**
 * Checks the parts that a task adds to its user message. An image must begin with the bytes of an
 * image of the declared type.
 * @throws ValidationError with the index of the part
 */
export function checkAttachments(what: string, parts: readonly unknown[]): void {
  parts.forEach((part, index) => checkPart(`${what} at index ${index}`, part));
}

function checkPart(what: string, part: unknown): void {
  const { type } = (part ?? {}) as { readonly type?: unknown };
  if (typeof part !== "object" || part === null || (type !== "text" && type !== "image"))
    throw new ValidationError(
      `${what} must be a part of type "text" or "image", got: ${preview(part)}`,
      { hint: SHAPES },
    );
  if (type === "text") {
    checkOptions(what, part, ["type", "text"]);
    requireText((part as { readonly text?: unknown }).text, `${what}: text must not be blank`);
    return;
  }
  checkOptions(what, part, ["type", "data", "mediaType"]);
  checkImage(what, part);
}

function checkImage(
  what: string,
  { data, mediaType }: { readonly data?: unknown; readonly mediaType?: unknown },
): void {
  if (mediaType !== undefined && typeof mediaType !== "string")
    throw new ValidationError(`${what}: mediaType must be text, got: ${preview(mediaType)}`);
  if (!(data instanceof URL) && (typeof data !== "string" || data.trim() === ""))
    throw new ValidationError(
      `${what}: data must be base64 text or an address, got: ${preview(data, 60)}`,
      { hint: 'Bytes become base64 text with Buffer.from(bytes).toString("base64").' },
    );
  const problem = problemOfImage({ type: "image", data, mediaType });
  if (problem !== undefined) throw new ValidationError(`${what} ${problem}`);
}

function problemOfImage({ data, mediaType }: ImagePart): string | undefined {
  const source = mediaSourceOf(data);
  const given = normalMediaType(mediaType);
  const declared = source.mediaType ?? given;
  if (source.mediaType !== undefined && given !== undefined && source.mediaType !== given)
    return `has two types: mediaType is ${given}, and its data: address names ${source.mediaType}`;
  if (declared !== undefined && !declared.startsWith("image/"))
    return `is declared as ${declared}, which is no image`;
  return source.kind === "url" ? undefined : problemOfBytes(source.data, declared);
}

function problemOfBytes(base64: string, declared: string | undefined): string | undefined {
  if (!BASE64.test(base64)) return "is neither base64 text nor an http:, https: or data: address";
  const found = mediaTypeOfBase64(base64);
  if (found !== undefined && !found.startsWith("image/"))
    return `is no image: its first bytes are those of ${found}`;
  if (declared === undefined)
    return found === undefined ? "has no mediaType, and its first bytes show none" : undefined;
  if (found === declared || (found === undefined && !isKnownMediaType(declared))) return undefined;
  return `is declared as ${declared}, but its first bytes are ${found === undefined ? "of another type" : `those of ${found}`}`;
}

/** Returns the type of an image; `image/*` if only its URL is known. */
function mediaTypeOf({ data, mediaType }: ImagePart): string {
  const source = mediaSourceOf(data);
  const declared = source.mediaType ?? normalMediaType(mediaType);
  const found = source.kind === "base64" ? mediaTypeOfBase64(source.data) : undefined;
  return found ?? declared ?? "image/*";
}

function takes(pattern: string, mediaType: string): boolean {
  const [kind = ""] = mediaType.split("/", 1);
  return (
    pattern === mediaType || pattern === `${kind}/*` || mediaType === `${pattern.split("/")[0]}/*`
  );
}

/**
 * Checks that a model accepts the attachments of a task, by its `capabilities.attachments`.
 * @throws ValidationError with the first part that it does not accept
 */
export function requireCarried(
  { attachments, description }: Pick<AnyTask, "attachments" | "description">,
  { provider, modelId, capabilities }: Pick<ChatModel, "provider" | "modelId" | "capabilities">,
): void {
  const taken = capabilities?.attachments;
  if (taken === undefined) return;
  for (const [index, part] of attachments.entries()) {
    if (part.type !== "image") continue;
    const mediaType = mediaTypeOf(part);
    if (taken.some((pattern) => takes(pattern, mediaType))) continue;
    const list = taken.length === 0 ? "text only" : taken.join(", ");
    throw new ValidationError(
      `Task '${description}' can't be sent to model '${provider}:${modelId}': attachment ${index} is ${mediaType}, and the model takes ${list}`,
    );
  }
}
