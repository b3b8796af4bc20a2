import type { CallToolResult } from "@modelcontextprotocol/server";
import type { ContentPart, MediaPart } from "../../../contracts/content.js";
import {
  isTextType,
  mediaSourceOf,
  mediaTypeOfBase64,
  normalMediaType,
  plainBase64,
} from "../../../util/media.js";

type ContentOfResult = CallToolResult["content"][number];

/**
 * Converts a part of a tool's result into content of the protocol. Files become resources of the
 * result.
 */
export function protocolContent(part: ContentPart, index: number): ContentOfResult {
  if (part.type === "text") return { type: "text", text: part.text };
  const source = mediaSourceOf(part.data);
  const declared = normalMediaType(part.mediaType) ?? source.mediaType;
  const name = nameOfPart(part, index);
  if (source.kind === "url")
    return {
      type: "resource_link",
      uri: source.url,
      name,
      ...(declared !== undefined && { mimeType: declared }),
    };
  const mimeType = declared ?? mediaTypeOfBase64(source.data) ?? "application/octet-stream";
  if (part.type !== "file") return { type: part.type, data: plainBase64(source.data), mimeType };
  const uri = `attachment:///${encodeURIComponent(name)}`;
  return {
    type: "resource",
    resource: isTextType(mimeType)
      ? { uri, mimeType, text: Buffer.from(source.data, "base64").toString("utf8") }
      : { uri, mimeType, blob: plainBase64(source.data) },
  };
}

function nameOfPart(part: MediaPart, index: number): string {
  return part.type === "file" && part.name !== undefined ? part.name : `${part.type}-${index + 1}`;
}
