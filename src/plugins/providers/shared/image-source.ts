import type { ContentPart } from "../../../contracts/chat-model.js";
import { mediaSourceOf, mediaTypeOfBase64, normalMediaType } from "../../../util/media.js";
import { UnsupportedRequest } from "./unsupported-request.js";

/** An image of a message, by URL or by its data. */
export type ImageSource =
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "base64"; readonly mediaType: string; readonly data: string };

/** Media types of images that the vendors accept. */
export const VENDOR_IMAGES: readonly string[] = Object.freeze([
  ...["image/png", "image/jpeg", "image/gif", "image/webp"],
]);

/**
 * Returns the URL of an image, or its data. The media type follows from its first bytes, otherwise
 * from its declaration.
 * @throws UnsupportedRequest for data of another type, and for data of unknown type
 */
export function imageSource(part: ContentPart & { readonly type: "image" }): ImageSource {
  const source = mediaSourceOf(part.data);
  if (source.kind === "url") return { kind: "url", url: source.url };
  const mediaType =
    mediaTypeOfBase64(source.data) ?? source.mediaType ?? normalMediaType(part.mediaType);
  if (mediaType?.startsWith("image/") !== true)
    throw new UnsupportedRequest(
      mediaType === undefined
        ? "the type of an image is unknown"
        : `a part of type 'image' holds ${mediaType}`,
      "Send images only, with their mediaType where the first bytes don't show it.",
    );
  return { kind: "base64", mediaType, data: source.data };
}

/** Returns the image as one URL: its own, or a `data:` URL. */
export function imageURL(part: ContentPart & { readonly type: "image" }): string {
  const source = imageSource(part);
  return source.kind === "url" ? source.url : `data:${source.mediaType};base64,${source.data}`;
}
