import { fileTypes } from "./media-vendor.js";

/** The URL of a file, or its content as base64 text. */
export type MediaSource =
  | { readonly kind: "url"; readonly url: string; readonly mediaType: string | undefined }
  | { readonly kind: "base64"; readonly data: string; readonly mediaType: string | undefined };

/**
 * Alternative names of media types. SVG counts as text, because a program that draws it may run its
 * scripts.
 */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["image/jpg", "image/jpeg"],
  ["image/heif", "image/heic"],
  ["image/svg+xml", "text/xml"],
  ["application/xml", "text/xml"],
  ["application/x-pdf", "application/pdf"],
  ["audio/mp3", "audio/mpeg"],
  ["audio/x-wav", "audio/wav"],
  ["audio/wave", "audio/wav"],
  ["audio/x-flac", "audio/flac"],
  ["audio/m4a", "audio/mp4"],
  ["audio/x-m4a", "audio/mp4"],
  ["application/ogg", "audio/ogg"],
]);
/** Types whose files always begin with the same bytes. */
const PROVABLE: ReadonlySet<string> = new Set([
  ...["image/png", "image/jpeg", "image/gif", "image/webp", "image/tiff", "image/avif"],
  ...["image/heic", "image/bmp", "application/pdf", "application/zip", "application/gzip"],
  ...["audio/wav", "audio/mpeg", "audio/ogg", "audio/flac", "audio/mp4", "video/mp4"],
]);
/** Number of base64 characters that cover more than the longest signature. */
const FIRST_CHARACTERS = 512;

/**
 * Returns the media types that match the first bytes of a file, the most likely one first. A format
 * and its extensions have the same first bytes.
 */
export function mediaTypesOf(start: Uint8Array): readonly string[] {
  const found = fileTypes()
    .filetypeinfo(start)
    .flatMap(({ mime }) => normalMediaType(mime) ?? [])
    .filter((mime) => mime !== "video/mpeg" || start[0] === 0); // its other signature is the letter "G"
  const isAudioOnly = Buffer.from(start.buffer, start.byteOffset, start.length)
    .toString("latin1", 4, 11)
    .startsWith("ftypM4A");
  return isAudioOnly ? ["audio/mp4", ...found] : found;
}

/** Returns the first bytes of base64 text, as many as the type requires. */
export function firstBytesOf(base64: string): Uint8Array {
  return Buffer.from(base64.slice(0, FIRST_CHARACTERS), "base64");
}

/**
 * Returns the media type of a file from its first bytes. Returns `undefined` for an unknown type.
 */
export function mediaTypeOfBase64(data: string): string | undefined {
  return mediaTypesOf(firstBytesOf(data))[0];
}

/** Returns whether the first bytes of a file can prove this media type. */
export function isKnownMediaType(mediaType: string): boolean {
  return PROVABLE.has(mediaType);
}

/** Returns whether files of this type are text: `text/*`, JSON and XML in all their kinds. */
export function isTextType(mediaType: string): boolean {
  return /^text\/|^application\/(.+\+)?(json|xml|yaml)$/.test(mediaType);
}

/**
 * Returns whether bytes are UTF-8 text without a NUL. `isWhole: false`: the last character may be
 * incomplete.
 */
export function isUtf8Text(bytes: Uint8Array, { isWhole }: { readonly isWhole: boolean }): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !isWhole });
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns a media type in lower case without parameters, under its usual name. Returns `undefined`
 * for blank text.
 */
export function normalMediaType(mediaType: string | undefined): string | undefined {
  const bare = mediaType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return bare === "" ? undefined : (ALIASES.get(bare) ?? bare);
}

/** Returns whether a pattern such as `image/png` or `image/*` accepts a media type. */
export function matchesMediaType(pattern: string, mediaType: string): boolean {
  const [kind = ""] = mediaType.split("/", 1);
  return (
    pattern === mediaType ||
    pattern === "*/*" ||
    pattern === `${kind}/*` ||
    mediaType === `${pattern.split("/", 1)[0]}/*`
  );
}

/** Returns whether text is base64, in one of its two alphabets and with line breaks or without. */
export function isBase64(text: string): boolean {
  const end = text.indexOf("=");
  const body = end === -1 ? text : text.slice(0, end);
  const rest = text.length - body.length;
  return (
    !/[^A-Za-z0-9+/_\- \t\r\n]/.test(body) &&
    isWholeBytes(body) &&
    (rest === 0 || (rest < 100 && /^={1,2}[ \t\r\n]*$/.test(text.slice(body.length))))
  );
}

/**
 * Returns whether the digits encode whole bytes. A single digit at the end would encode less than a
 * byte.
 */
function isWholeBytes(digits: string): boolean {
  const { length } = /[ \t\r\n]/.test(digits) ? digits.replace(/[ \t\r\n]+/g, "") : digits;
  return length > 0 && length % 4 !== 1;
}

/** The characters that base64 text may contain in addition to the usual alphabet. */
const OTHER_DIGITS = ["-", "_", "\n", "\r", " ", "\t"] as const;

/** Returns base64 text in the usual alphabet without line breaks. */
export function plainBase64(text: string): string {
  // Faster than a regular expression for a text of megabytes. Every request scans the text.
  const isPlain = OTHER_DIGITS.every((character) => !text.includes(character));
  return isPlain ? text : Buffer.from(text, "base64").toString("base64");
}

/** Splits the data of a part: a URL, or base64 text with the type in its `data:` URL. */
export function mediaSourceOf(data: string | URL): MediaSource {
  const text = data instanceof URL ? data.href : data;
  if (/^https?:/i.test(text)) return { kind: "url", url: text, mediaType: undefined };
  if (!/^data:/i.test(text)) return { kind: "base64", data: text, mediaType: undefined };
  const comma = text.indexOf(",");
  const head = text.slice(5, comma === -1 ? text.length : comma);
  const body = comma === -1 ? "" : text.slice(comma + 1);
  const mediaType = normalMediaType(head) ?? "text/plain";
  return /;base64$/i.test(head)
    ? { kind: "base64", data: body, mediaType }
    : { kind: "base64", data: base64OfEscaped(body), mediaType };
}

/** Returns the bytes of a `data:` address that is not base64. Invalid escapes remain unchanged. */
function base64OfEscaped(text: string): string {
  const bytes = text.replace(/(?:%[0-9a-f]{2})+/gi, (escaped) =>
    Buffer.from(escaped.replaceAll("%", ""), "hex").toString("utf8"),
  );
  return Buffer.from(bytes, "utf8").toString("base64");
}
