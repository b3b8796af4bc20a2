/** The URL of a file, or its content as base64 text. */
export type MediaSource =
  | { readonly kind: "url"; readonly url: string; readonly mediaType: string | undefined }
  | { readonly kind: "base64"; readonly data: string; readonly mediaType: string | undefined };

/** The first bytes of each file type as Latin-1 text, with their offset. Default offset: 0. */
const SIGNATURES: readonly (readonly [mediaType: string, start: string, offset?: number])[] = [
  ["image/png", "\x89PNG"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF8"],
  ["image/webp", "WEBP", 8],
  ["audio/wav", "WAVE", 8],
  ["image/tiff", "II*\0"],
  ["image/tiff", "MM\0*"],
  ["image/avif", "ftypavif", 4],
  ["image/avif", "ftypavis", 4],
  ["image/heic", "ftyphei", 4],
  ["image/heic", "ftypmif1", 4],
  ["audio/mp4", "ftypM4A", 4],
  ["video/mp4", "ftyp", 4],
  ["application/pdf", "%PDF"],
  ["audio/mpeg", "ID3"],
  ["audio/mpeg", "\xff\xfb"],
  ["audio/mpeg", "\xff\xf3"],
  ["audio/mpeg", "\xff\xf2"],
  ["audio/ogg", "OggS"],
  ["audio/flac", "fLaC"],
  ["video/webm", "\x1aE\xdf\xa3"],
  ["application/zip", "PK\x03\x04"],
  ["application/gzip", "\x1f\x8b"],
];
const KNOWN: ReadonlySet<string> = new Set(SIGNATURES.map(([mediaType]) => mediaType));
/** Number of base64 characters that cover more than the longest signature. */
const FIRST_CHARACTERS = 64;

/** Returns the media type of a file from its first bytes; `undefined` for an unknown type. */
export function mediaTypeOfBase64(data: string): string | undefined {
  const start = Buffer.from(data.slice(0, FIRST_CHARACTERS), "base64").toString("latin1");
  return SIGNATURES.find(([, text, offset = 0]) => start.startsWith(text, offset))?.[0];
}

/** Returns whether the first bytes of a file can prove this media type. */
export function isKnownMediaType(mediaType: string): boolean {
  return KNOWN.has(mediaType);
}

/** Returns a media type in lower case without parameters; `undefined` for blank text. */
export function normalMediaType(mediaType: string | undefined): string | undefined {
  const bare = mediaType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (bare === "") return undefined;
  return bare === "image/jpg" ? "image/jpeg" : bare;
}

/** Splits the data of a part: a URL, or base64 text with the type in its `data:` URL. */
export function mediaSourceOf(data: string | URL): MediaSource {
  const text = data instanceof URL ? data.href : data;
  if (/^https?:/i.test(text)) return { kind: "url", url: text, mediaType: undefined };
  if (!/^data:/i.test(text)) return { kind: "base64", data: text, mediaType: undefined };
  const comma = text.indexOf(",");
  const head = text.slice(5, comma === -1 ? text.length : comma);
  const mediaType = normalMediaType(head);
  return /;base64$/i.test(head)
    ? { kind: "base64", data: text.slice(comma + 1), mediaType }
    : { kind: "url", url: text, mediaType };
}
