import type { ContentPart, MediaPart } from "./content.js";
import { mediaSourceOf, normalMediaType } from "../util/media.js";

/**
 * An image, file or audio part without its content, as in traces and events. If the content is an
 * address, size and hash are absent.
 */
export interface PartSummary {
  readonly type: MediaPart["type"];
  readonly mediaType?: string | undefined;
  readonly bytes?: number | undefined;
  /** SHA-256 of the content as hexadecimal digits. Present only in traces and recordings. */
  readonly sha256?: string | undefined;
  readonly name?: string | undefined;
}

/**
 * Describes a part without its content and hash. Also accepts a recorded part, which has no
 * content.
 */
export function summaryOfPart(part: MediaPart | PartSummary): PartSummary {
  if (!("data" in part)) return part;
  const source = mediaSourceOf(part.data);
  const mediaType = normalMediaType(part.mediaType) ?? source.mediaType;
  return {
    type: part.type,
    ...(mediaType !== undefined && { mediaType }),
    ...(source.kind === "base64" && { bytes: Buffer.byteLength(source.data, "base64") }),
    ...(part.type === "file" && part.name !== undefined && { name: part.name }),
  };
}

/**
 * Returns the field `parts` for the images, files and audio parts in a list. Returns no field if
 * there are none.
 */
export function partsField(parts: readonly ContentPart[]): {
  readonly parts?: readonly PartSummary[];
} {
  const media = parts.filter((part) => part.type !== "text");
  return media.length === 0 ? {} : { parts: media.map(summaryOfPart) };
}
