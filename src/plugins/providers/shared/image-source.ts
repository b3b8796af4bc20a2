import type { ContentPart } from "../../../contracts/chat-model.js";

/** An image of a message: where it is, or what it is. */
export type ImageSource =
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "base64"; readonly mediaType: string; readonly data: string };

/** How the base64 text of the usual image formats begins. */
const IMAGE_SIGNATURES: readonly (readonly [string, string])[] = [
  ["iVBOR", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lG", "image/gif"],
  ["UklGR", "image/webp"],
];

/** Tells an image's address from its data, and finds out its type where the message does not say. */
export function imageSource(part: ContentPart & { readonly type: "image" }): ImageSource {
  const text = part.data instanceof URL ? part.data.href : part.data;
  const embedded = /^data:([^;,]*)[^,]*;base64,(.*)$/is.exec(text);
  if (embedded !== null)
    return {
      kind: "base64",
      mediaType: embedded[1] || (part.mediaType ?? "image/png"),
      data: embedded[2] ?? "",
    };
  if (/^(https?|data):/i.test(text)) return { kind: "url", url: text };
  const mediaType =
    part.mediaType ??
    IMAGE_SIGNATURES.find(([start]) => text.startsWith(start))?.[1] ??
    "image/png";
  return { kind: "base64", mediaType, data: text };
}

/** The image as one address: its own, or a `data:` URL. */
export function imageURL(part: ContentPart & { readonly type: "image" }): string {
  const source = imageSource(part);
  return source.kind === "url" ? source.url : `data:${source.mediaType};base64,${source.data}`;
}
