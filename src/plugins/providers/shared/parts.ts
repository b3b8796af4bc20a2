import type { ContentPart, MediaPart, PartSupport } from "../../../contracts/content.js";
import {
  isTextType,
  mediaSourceOf,
  mediaTypeOfBase64,
  normalMediaType,
  plainBase64,
} from "../../../util/media.js";
import { UnsupportedRequest } from "./unsupported-request.js";

/** The content of a part in the forms that vendors distinguish. */
export type PartContent =
  | { readonly kind: "url"; readonly url: string; readonly mediaType: string }
  | { readonly kind: "base64"; readonly data: string; readonly mediaType: string }
  /** A text file. `name` is its name. */
  | { readonly kind: "text"; readonly text: string; readonly name: string | undefined };

/** Media types of images that the vendors accept. */
export const VENDOR_IMAGES: readonly string[] = Object.freeze([
  ...["image/png", "image/jpeg", "image/gif", "image/webp"],
]);
/** The parts that servers with a compatible API usually accept. */
export const COMPATIBLE_PARTS: PartSupport = Object.freeze({
  user: VENDOR_IMAGES,
  tool: VENDOR_IMAGES,
  urls: Object.freeze(["image/*"]),
});

/**
 * Reads a part. Its first bytes determine the media type, or else its declaration.
 * @throws UnsupportedRequest for data of another or of unknown type
 */
export function readMedia(part: MediaPart): PartContent {
  const source = mediaSourceOf(part.data);
  const declared = normalMediaType(part.mediaType) ?? source.mediaType;
  if (source.kind === "url")
    return { kind: "url", url: source.url, mediaType: declared ?? "image/*" };
  if (part.type === "file" && declared !== undefined && isTextType(declared))
    return {
      kind: "text",
      text: Buffer.from(source.data, "base64").toString("utf8"),
      name: part.name,
    };
  const mediaType = mediaTypeOfBase64(source.data) ?? declared;
  if (mediaType === undefined || !isSamePartType(part.type, mediaType))
    throw new UnsupportedRequest(
      mediaType === undefined
        ? "the type of an image is unknown"
        : `a part of type '${part.type}' contains ${mediaType}`,
      "Make parts with attachment.fromBytes, fromBase64, fromUrl, fromFile or fromBlob.",
    );
  return { kind: "base64", mediaType, data: plainBase64(source.data) };
}

function isSamePartType(type: MediaPart["type"], mediaType: string): boolean {
  const kind = /^(image|audio)\//.exec(mediaType)?.[1] ?? "file";
  return type === kind;
}

/** Returns the part as one URL: its URL, or a `data:` URL. */
export function mediaUrl(content: Exclude<PartContent, { readonly kind: "text" }>): string {
  return content.kind === "url" ? content.url : `data:${content.mediaType};base64,${content.data}`;
}

/** Returns a text file as text for the model, with its name. */
export function fileText({ text, name }: Extract<PartContent, { readonly kind: "text" }>): string {
  return name === undefined ? text : `File ${name}:\n\n${text}`;
}

/** Returns the error for a part that this API does not support. */
export function noFormFor(part: ContentPart, api: string): UnsupportedRequest {
  return new UnsupportedRequest(
    `${api} has no form for this part of type '${part.type}'`,
    "Pass its bytes, or choose another model.",
    "AE_MODEL_UNSUPPORTED_INPUT",
  );
}
