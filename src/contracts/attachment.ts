import type {
  AttachmentLimits,
  AttachmentOptions,
  CacheOption,
  ContentPart,
  MediaPart,
} from "./content.js";
import {
  firstBytesOf,
  isBase64,
  matchesMediaType,
  mediaSourceOf,
  normalMediaType,
} from "../util/media.js";
import { judgedType, type JudgedType } from "../util/judged-type.js";
import { readWithin } from "../util/files/read-within.js";
import { messageOf } from "../util/errors.js";
import { ValidationError } from "./errors.js";
import { checkMediaTypes, isTakenType } from "./part-support.js";
import { checkOptions, preview, requireInteger, requireText } from "./validation.js";

/** `AttachmentLimits` with defaults. */
export interface PartLimits {
  readonly maxBytes: number;
  readonly maxTotalBytes: number;
  readonly maxParts: number;
  /** `undefined`: all. */
  readonly types: readonly string[] | undefined;
}

const MIB = 1024 * 1024;
const TYPES: readonly string[] = Object.freeze([
  ...["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/*"],
  ...["application/json", "audio/wav", "audio/mpeg"],
]);
/** The limits of a task's attachments. The model decides which types it accepts. */
const TASK_LIMITS: PartLimits = Object.freeze({
  maxBytes: 20 * MIB,
  maxTotalBytes: 32 * MIB,
  maxParts: 32,
  types: undefined,
});
const PART_LIMITS = Symbol.for("agentensemble/part-limits");
const FIELDS = {
  text: ["type", "text", "cache"],
  image: ["type", "data", "mediaType", "detail", "cache"],
  file: ["type", "data", "mediaType", "name", "cache"],
  audio: ["type", "data", "mediaType", "cache"],
} as const;
const SHAPES =
  'Write { type: "text", text: "..." }, or make a part with attachment.fromFile(path), fromBytes, fromBase64, fromUrl or fromBlob.';
/**
 * Marks parts whose content was checked at their creation. Marked parts are frozen. Copies have no
 * mark.
 */
const MADE = Symbol("checked part");
const LIMIT_FIELDS = ["maxBytes", "maxTotalBytes", "maxParts", "types"] as const;

/**
 * Validates limits of attachments and applies the defaults.
 * @throws ValidationError for an unknown or invalid limit.
 */
export function partLimits(what: string, limits: AttachmentLimits = {}): PartLimits {
  checkOptions(what, limits, LIMIT_FIELDS);
  for (const name of ["maxBytes", "maxTotalBytes", "maxParts"] as const)
    requireInteger(`${what} ${name}`, limits[name], 1);
  checkMediaTypes(`${what} types`, limits.types);
  return Object.freeze({
    maxBytes: limits.maxBytes ?? TASK_LIMITS.maxBytes,
    maxTotalBytes: limits.maxTotalBytes ?? TASK_LIMITS.maxTotalBytes,
    maxParts: limits.maxParts ?? TASK_LIMITS.maxParts,
    types: limits.types ?? TYPES,
  });
}

/** Returns the options of a task with other limits for its attachments. */
export function withPartLimits<T extends object>(options: T, limits: PartLimits | undefined): T {
  return limits === undefined ? options : { ...options, [PART_LIMITS]: limits };
}

/** Returns the limits that `withPartLimits` added. */
export function partLimitsIn(options: object): PartLimits | undefined {
  return (options as { readonly [PART_LIMITS]?: PartLimits })[PART_LIMITS]; // set only above
}

/**
 * Checks the parts of one message: their form, types and sizes. The first bytes of a part must
 * match its type. `what` names a part in errors.
 * @throws ValidationError with the index of the part.
 */
export function checkParts(
  what: string,
  parts: readonly unknown[],
  limits: PartLimits = TASK_LIMITS,
): void {
  if (parts.length > limits.maxParts)
    throw new ValidationError(
      `${what}s must be at most ${limits.maxParts} parts, got: ${parts.length}`,
    );
  let total = 0;
  parts.forEach((part, index) => {
    total += checkPart(`${what} at index ${index}`, part, limits);
    if (total > limits.maxTotalBytes)
      throw new ValidationError(
        `${what}s must have at most ${limits.maxTotalBytes} bytes together, got at least: ${total}`,
      );
  });
}

/** Returns the size of a part in bytes. Returns 0 for an address. */
function checkPart(what: string, part: unknown, limits: PartLimits): number {
  const { type } = (part ?? {}) as { readonly type?: unknown };
  if (typeof part !== "object" || part === null || !isPartType(type))
    throw new ValidationError(
      `${what} must be a part of type "text", "image", "file" or "audio", got: ${shownPart(part)}`,
      { hint: SHAPES },
    );
  checkOptions(what, part, FIELDS[type]);
  const given = part as ContentPart; // its fields are checked next
  checkCache(`${what} cache`, given.cache);
  if (given.type === "text") {
    requireText(given.text, `${what}: text must not be blank`);
    return checkSize(what, Buffer.byteLength(given.text), limits);
  }
  return checkMedia(what, given, limits);
}

function isPartType(type: unknown): type is keyof typeof FIELDS {
  return typeof type === "string" && Object.hasOwn(FIELDS, type);
}

/** Describes a part in an error without showing its content. */
function shownPart(part: unknown): string {
  if (typeof part !== "object" || part === null) return preview(part, 60);
  return `an object with the fields ${Object.keys(part).slice(0, 8).join(", ")}`;
}

/** @throws ValidationError unless `cache` is absent or a `CacheOption`. */
export function checkCache(what: string, cache: CacheOption | undefined): void {
  if (cache === undefined || cache === "auto" || cache === "off") return;
  const ttl: unknown = (cache as { readonly ttl?: unknown } | null)?.ttl;
  if (ttl === "5m" || ttl === "30m" || ttl === "1h") return checkOptions(what, cache, ["ttl"]);
  throw new ValidationError(
    `${what} must be "auto", "off" or { ttl: "5m" | "30m" | "1h" }, got: ${preview(cache)}`,
  );
}

function checkMedia(what: string, part: MediaPart, limits: PartLimits): number {
  const { data, mediaType }: { readonly data: unknown; readonly mediaType?: unknown } = part;
  if (mediaType !== undefined && typeof mediaType !== "string")
    throw new ValidationError(`${what}: mediaType must be text, got: ${preview(mediaType)}`);
  if (!(data instanceof URL) && (typeof data !== "string" || data.trim() === ""))
    throw new ValidationError(
      `${what}: data must be base64 text or an address, got: ${preview(data, 60)}`,
      { hint: "attachment.fromBytes(bytes) creates a part from bytes." },
    );
  if (part.type === "image" && !["auto", "low", "high", undefined].includes(part.detail))
    throw new ValidationError(
      `${what}: detail must be "auto", "low" or "high", got: ${preview(part.detail)}`,
    );
  if (part.type === "file" && part.name !== undefined)
    requireText(part.name, `${what}: name must not be blank when set`);
  const bytes = dataBytes(part);
  checkSize(what, bytes, limits);
  const judged = MADE in part ? { mediaType: part.mediaType ?? "image/*" } : judgedPart(part);
  if ("problem" in judged) throw new ValidationError(`${what} ${judged.problem}`);
  checkType(what, judged.mediaType, limits);
  return bytes;
}

function checkSize(what: string, bytes: number, { maxBytes }: PartLimits): number {
  if (bytes > maxBytes)
    throw new ValidationError(`${what} must have at most ${maxBytes} bytes, got: ${bytes}`);
  return bytes;
}

function checkType(what: string, mediaType: string, { types }: PartLimits): void {
  if (types === undefined || isTakenType(types, mediaType)) return;
  throw new ValidationError(
    `${what} is ${mediaType}, which is not accepted (accepted: ${types.join(", ")})`,
  );
}

function dataBytes({ data }: MediaPart): number {
  const source = mediaSourceOf(data);
  return source.kind === "url" ? 0 : Buffer.byteLength(source.data, "base64");
}

/** Determines the type of a part, or the reason why the type is unknown. */
function judgedPart(part: MediaPart): JudgedType {
  const source = mediaSourceOf(part.data);
  const given = normalMediaType(part.mediaType);
  const declared = given ?? source.mediaType;
  if (source.mediaType !== undefined && given !== undefined && source.mediaType !== given)
    return {
      problem: `has two types: mediaType is ${given}, and its data: address names ${source.mediaType}`,
    };
  const misplaced = declared === undefined ? undefined : problemOfKind(part.type, declared);
  if (misplaced !== undefined) return { problem: `is declared as ${declared}, ${misplaced}` };
  if (source.kind === "url")
    return part.type === "audio"
      ? { problem: "is audio by its address; pass its bytes" }
      : { mediaType: declared ?? "image/*" };
  if (!isBase64(source.data))
    return { problem: "is neither base64 text nor an http:, https: or data: address" };
  const found = judgedType(firstBytesOf(source.data), declared, () =>
    Buffer.from(source.data, "base64"),
  );
  if ("problem" in found) return found;
  const other = problemOfKind(part.type, found.mediaType);
  return other === undefined
    ? found
    : {
        problem: `is no ${part.type}: its first bytes are those of ${found.mediaType}`,
      };
}

function problemOfKind(type: MediaPart["type"], mediaType: string): string | undefined {
  const kind = kindOfMedia(mediaType);
  if (kind === type) return undefined;
  return type === "file"
    ? `which belongs into a part of type "${kind}"`
    : `which is no ${type}; a part of type "${kind}" carries it`;
}

function kindOfMedia(mediaType: string): MediaPart["type"] {
  if (matchesMediaType("image/*", mediaType)) return "image";
  return matchesMediaType("audio/*", mediaType) ? "audio" : "file";
}

const OPTIONS = [...LIMIT_FIELDS, "mediaType", "name", "cache", "signal"] as const;

/** Returns the limits of a part that is the only one of its message. */
function checkedLimits(what: string, o: AttachmentOptions): PartLimits {
  checkOptions(what, o, OPTIONS);
  requireSignal(what, o.signal);
  o.signal?.throwIfAborted();
  checkCache(`${what} cache`, o.cache);
  if (o.mediaType !== undefined) requireText(o.mediaType, `${what} mediaType must not be blank`);
  if (o.name !== undefined) requireText(o.name, `${what} name must not be blank`);
  const { maxBytes, maxTotalBytes, maxParts, types } = o;
  const limits = partLimits(what, { maxBytes, maxTotalBytes, maxParts, types });
  return { ...limits, maxBytes: Math.min(limits.maxBytes, limits.maxTotalBytes) };
}

function requireSignal(what: string, signal: unknown): void {
  if (signal === undefined || typeof (signal as AbortSignal | null)?.throwIfAborted === "function")
    return;
  throw new ValidationError(`${what} signal must be an AbortSignal, got: ${preview(signal)}`);
}

function madePart(
  data: string | URL,
  mediaType: string | undefined,
  { name, cache }: AttachmentOptions,
): MediaPart {
  const kind = mediaType === undefined ? "image" : kindOfMedia(mediaType);
  const common = { type: kind, data, ...(mediaType !== undefined && { mediaType }) };
  const part = {
    ...common,
    ...(kind === "file" && name !== undefined && { name }),
    ...(cache !== undefined && { cache }),
  } as MediaPart; // the kind follows from the type; audio is never made from an address
  return Object.freeze(Object.defineProperty(part, MADE, { value: true }));
}

function partOfBytes(what: string, bytes: Uint8Array, o: AttachmentOptions): MediaPart {
  const limits = checkedLimits(what, o);
  if (bytes.length === 0) throw new ValidationError(`${what} has no bytes`);
  checkSize(what, bytes.length, limits);
  const judged = judgedType(bytes.subarray(0, 384), normalMediaType(o.mediaType), () => bytes);
  if ("problem" in judged) throw new ValidationError(`${what} ${judged.problem}`);
  checkType(what, judged.mediaType, limits);
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
  return madePart(base64, judged.mediaType, o);
}

function fromBytes(bytes: Uint8Array | ArrayBuffer, o: AttachmentOptions = {}): MediaPart {
  const given: unknown = bytes;
  if (given instanceof ArrayBuffer)
    return partOfBytes("attachment.fromBytes()", new Uint8Array(given), o);
  if (given instanceof Uint8Array) return partOfBytes("attachment.fromBytes()", given, o);
  throw new ValidationError(
    `attachment.fromBytes() takes a Uint8Array or an ArrayBuffer, got: ${preview(given, 60)}`,
  );
}

function fromBase64(base64: string, o: AttachmentOptions = {}): MediaPart {
  const what = "attachment.fromBase64()";
  const { maxBytes } = checkedLimits(what, o);
  if (typeof base64 !== "string" || !isBase64(base64))
    throw new ValidationError(`${what} takes base64 text, got: ${typeof base64}`, {
      hint: "Letters, digits, + and /, padded with =.",
    });
  // Checked first: text that is too long is not decoded.
  if (base64.length > 2 * maxBytes + 64)
    throw new ValidationError(
      `${what} must have at most ${maxBytes} bytes, got about: ${Buffer.byteLength(base64, "base64")}`,
    );
  return partOfBytes(what, Buffer.from(base64, "base64"), o);
}

function fromUrl(url: string | URL, o: AttachmentOptions = {}): MediaPart {
  const what = "attachment.fromUrl()";
  const text = url instanceof URL ? url.href : url;
  const limits = checkedLimits(what, o);
  if (typeof text !== "string" || !/^(data|https?):/i.test(text) || !URL.canParse(text))
    throw new ValidationError(
      `${what} takes an http:, https: or data: address, got: ${preview(text, 60)}`,
      { hint: "attachment.fromFile(path) reads a file." },
    );
  const source = mediaSourceOf(text);
  if (source.kind === "base64") {
    const claimed = o.mediaType ?? source.mediaType;
    const whole = { ...o, ...(claimed !== undefined && { mediaType: claimed }) };
    if (source.data.length > 2 * limits.maxBytes + 64 || !isBase64(source.data))
      return fromBase64(source.data, whole);
    return partOfBytes(what, Buffer.from(source.data, "base64"), whole);
  }
  const mediaType = normalMediaType(o.mediaType);
  if (mediaType !== undefined) checkType(what, mediaType, limits);
  if (mediaType !== undefined && kindOfMedia(mediaType) === "audio")
    throw new ValidationError(`${what} can't pass on the address of audio; pass its bytes`);
  return madePart(source.url, mediaType, o);
}

async function fromFile(path: string, o: AttachmentOptions = {}): Promise<MediaPart> {
  const what = `attachment.fromFile(${preview(path, 120)})`;
  const { maxBytes } = checkedLimits(what, o);
  requireText(path, "attachment.fromFile() path must not be blank");
  const read = await readWithin(path, maxBytes, o.signal).catch((cause: unknown) => {
    o.signal?.throwIfAborted();
    throw new ValidationError(`${what} can't be read: ${messageOf(cause)}`, { cause });
  });
  if (typeof read === "number")
    throw new ValidationError(`${what} must have at most ${maxBytes} bytes, got: ${read}`);
  const name = o.name ?? path.split(/[\\/]/).at(-1);
  return partOfBytes(what, read, { ...o, ...(name !== undefined && { name }) });
}

async function fromBlob(blob: Blob, o: AttachmentOptions = {}): Promise<MediaPart> {
  const what = "attachment.fromBlob()";
  const given: unknown = blob;
  if (!(given instanceof Blob))
    throw new ValidationError(`${what} takes a Blob or a File, got: ${preview(given, 60)}`);
  checkSize(what, given.size, checkedLimits(what, o));
  const claimed = o.mediaType ?? (given.type === "" ? undefined : given.type);
  const name = o.name ?? ("name" in given ? String(given.name) : undefined);
  const bytes = new Uint8Array(await given.arrayBuffer());
  o.signal?.throwIfAborted();
  return partOfBytes(what, bytes, {
    ...o,
    ...(claimed !== undefined && { mediaType: claimed }),
    ...(name !== undefined && name.trim() !== "" && { name }),
  });
}

/**
 * Creates parts of messages from bytes, base64 text, addresses, files and blobs. The parts may be
 * attachments of a task, of a tool's result or of a message. The first bytes determine the type. A
 * type that the caller passes must match the first bytes. An address is passed to the vendor and
 * never fetched. A `data:` address is decoded. An address without `mediaType` counts as an image.
 * `fromFile` checks the size before it reads the file. Do not pass a path that a model wrote.
 *
 * @example attachments: [await attachment.fromFile("paper.pdf", { cache: { ttl: "5m" } })]
 * @throws ValidationError for bytes that do not match the given type, an unknown or refused type,
 * or too many bytes. Also for a file that can't be read. The asynchronous functions reject with
 * this error.
 */
export const attachment = Object.freeze({ fromBytes, fromBase64, fromUrl, fromFile, fromBlob });
