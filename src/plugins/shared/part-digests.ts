import { createHash } from "node:crypto";
import type { ChatMessage } from "../../contracts/chat-model.js";
import type { ContentPart, MediaPart } from "../../contracts/content.js";
import type { PartSummary } from "../../contracts/part-summary.js";
import { summaryOfPart } from "../../contracts/part-summary.js";
import { isTextType, mediaSourceOf, normalMediaType } from "../../util/media.js";

/** Hashes the content of parts, each once. */
export class PartDigests {
  readonly #known = new WeakMap<MediaPart, PartSummary>();

  /** Describes a part with its hash. */
  of(part: MediaPart): PartSummary {
    let known = this.#known.get(part);
    if (known === undefined) this.#known.set(part, (known = partDigest(part)));
    return known;
  }

  /**
   * Returns the message with hashes in place of the content of its parts. A message without parts
   * is returned unchanged, and so is one whose content was already replaced.
   */
  withoutContent(message: ChatMessage): ChatMessage {
    return withMedia(message, (part) => {
      if (part.data === undefined || mediaSourceOf(part.data).kind === "url") return part;
      const { data: _, ...rest } = part;
      const { bytes, sha256 } = this.of(part);
      // the result is only stored and compared
      return { ...rest, bytes, sha256 } as unknown as MediaPart;
    });
  }
}

function partDigest(part: MediaPart): PartSummary {
  const bytes = bytesOfPart(part);
  if (bytes === undefined) return summaryOfPart(part);
  return { ...summaryOfPart(part), sha256: createHash("sha256").update(bytes).digest("hex") };
}

/** Returns the content of a part. `undefined` if the part is an address. */
export function bytesOfPart(part: MediaPart): Buffer | undefined {
  const source = mediaSourceOf(part.data);
  return source.kind === "url" ? undefined : Buffer.from(source.data, "base64");
}

/**
 * Returns a message with each image, file and audio part replaced. Without such parts, returns the
 * same message.
 */
export function withMedia(
  message: ChatMessage,
  change: (part: MediaPart) => MediaPart,
): ChatMessage {
  const changed = (parts: readonly ContentPart[]): readonly ContentPart[] =>
    parts.map((part) => (part.type === "text" ? part : change(part)));
  const hasMedia = (parts: readonly ContentPart[]): boolean =>
    parts.some(({ type }) => type !== "text");
  if (message.role === "tool")
    return message.parts !== undefined && hasMedia(message.parts)
      ? { ...message, parts: changed(message.parts) }
      : message;
  return message.role === "user" && typeof message.content !== "string" && hasMedia(message.content)
    ? { ...message, content: changed(message.content) }
    : message;
}

/**
 * Returns a text file with its text changed. Returns the same part if nothing changes or it is no
 * text file.
 */
export function withFileText(part: MediaPart, change: (text: string) => string): MediaPart {
  const isText = part.type === "file" && isTextType(normalMediaType(part.mediaType) ?? "");
  const text = isText ? bytesOfPart(part)?.toString("utf8") : undefined;
  if (text === undefined) return part;
  const changed = change(text);
  return changed === text ? part : { ...part, data: Buffer.from(changed).toString("base64") };
}
