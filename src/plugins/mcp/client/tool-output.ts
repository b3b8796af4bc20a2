import type { CallToolResult } from "@modelcontextprotocol/client";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { McpAttachment } from "./mcp-types.js";
import type { McpTemplateName } from "./mcp-client-prompts.js";
import { attachment, checkParts } from "../../../contracts/attachment.js";
import type { MediaPart } from "../../../contracts/content.js";
import { ValidationError } from "../../../contracts/errors.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { cutText } from "../../../util/text.js";

type McpTexts = PromptTexts<McpTemplateName>;
type ResultContent = CallToolResult["content"][number];

/**
 * Maximum size of the attachment data of one result, in characters. Larger data is mentioned but
 * not kept.
 */
const KEPT_DATA = 2_000_000;

const bytesOf = (base64: string): number => Math.floor((base64.replace(/=+$/, "").length * 3) / 4);

/** Collects the text, the parts for the model and the attachments of a result. */
class ResultParts {
  readonly texts: string[] = [];
  readonly attachments: McpAttachment[] = [];
  readonly parts: MediaPart[] = [];
  readonly #words: McpTexts;
  #room = KEPT_DATA;

  constructor(words: McpTexts) {
    this.#words = words;
  }

  add(content: ResultContent): void {
    if (content.type === "text") this.texts.push(content.text);
    else if (content.type === "image" || content.type === "audio")
      this.#addMedia(content.type, content.mimeType, content.data, undefined);
    else if (content.type === "resource_link") {
      const { uri, name, mimeType } = content;
      this.attachments.push({ kind: "resource_link", uri, name, mimeType });
      this.texts.push(this.#words.render("mcp.link", { uri, name }));
    } else this.#addResource(content.resource);
  }

  #addMedia(
    kind: "image" | "audio" | "resource",
    mimeType: string | undefined,
    data: string,
    uri: string | undefined,
  ): void {
    const bytes = bytesOf(data);
    const isPart = this.#addPart(kind, mimeType, data);
    const fits = !isPart && data.length <= this.#room;
    if (fits) this.#room -= data.length;
    this.attachments.push({
      kind,
      mimeType,
      bytes,
      ...(uri === undefined ? {} : { uri }),
      ...(fits ? { data } : {}),
    });
    const shown = uri === undefined ? kind : `${kind} ${uri}`;
    this.texts.push(
      this.#words.render(isPart ? "mcp.part" : "mcp.media", {
        kind: shown,
        mimeType: mimeType ?? "application/octet-stream",
        bytes,
      }),
    );
  }

  /**
   * Creates a part for the model. Returns false for data that is invalid, of another kind than
   * declared, of an unsupported type, or too large.
   */
  #addPart(
    kind: "image" | "audio" | "resource",
    mimeType: string | undefined,
    data: string,
  ): boolean {
    try {
      // The type of images and audio is detected from the first bytes, because the declared type is
      // often wrong.
      const part = attachment.fromBase64(
        data,
        kind === "resource" && mimeType !== undefined ? { mediaType: mimeType } : {},
      );
      if (kind !== "resource" && part.type !== kind) return false;
      checkParts("Part", [...this.parts, part]);
      this.parts.push(part);
      return true;
    } catch (error) {
      if (!ValidationError.isInstance(error)) throw error;
      return false;
    }
  }

  #addResource(resource: Extract<ResultContent, { type: "resource" }>["resource"]): void {
    const { uri, mimeType } = resource;
    if ("blob" in resource) return this.#addMedia("resource", mimeType, resource.blob, uri);
    const fits = resource.text.length <= this.#room;
    if (fits) this.#room -= resource.text.length;
    this.attachments.push({
      kind: "resource",
      uri,
      mimeType,
      ...(fits ? { text: resource.text } : {}),
    });
    this.texts.push(this.#words.render("mcp.resource", { uri, text: resource.text }));
  }
}

/** Returns the first `limit` characters and a note with the full length. */
function truncated(text: string, limit: number, words: McpTexts): string {
  return text.length <= limit
    ? text
    : cutText(text, limit, words.render("mcp.truncated", { length: text.length }));
}

/**
 * Converts a server's result into a tool result: text and parts for the model, the rest in
 * `structured`.
 */
export function resultOfServer(result: CallToolResult, limit: number, words: McpTexts): ToolResult {
  const parts = new ResultParts(words);
  for (const content of result.content) parts.add(content);
  const { structuredContent } = result;
  // The protocol requires structured content also as text, but not all servers send it.
  const text =
    parts.texts.length === 0 && structuredContent !== undefined
      ? JSON.stringify(structuredContent)
      : parts.texts.join("\n");
  if (result.isError === true)
    return ToolResult.failure(
      text.trim() === "" ? "MCP tool returned an error" : truncated(text, limit, words),
    );
  const structured: unknown =
    parts.attachments.length === 0
      ? structuredContent
      : { structuredContent, attachments: parts.attachments };
  return ToolResult.success(truncated(text, limit, words), structured, { parts: parts.parts });
}
