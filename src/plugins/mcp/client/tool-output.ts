import type { CallToolResult } from "@modelcontextprotocol/client";
import type { PromptTexts } from "../../../kernel/index.js";
import type { McpTemplateName } from "./templates.js";
import { ToolResult } from "../../../contracts/tool.js";

type Texts = PromptTexts<McpTemplateName>;
type Content = CallToolResult["content"][number];

/** Attachments of one result keep this much data, in characters; what does not fit is told about but not kept. */
const KEPT_DATA = 2_000_000;

/** Something in an MCP tool's result that is no text for the model: an image, a sound, a resource or a link to one. In `structured` of the result. */
export interface McpAttachment {
  readonly kind: "image" | "audio" | "resource" | "resource_link";
  readonly mimeType?: string | undefined;
  readonly uri?: string | undefined;
  readonly name?: string | undefined;
  /** Base64; absent where it would have been too large to keep. */
  readonly data?: string | undefined;
  readonly text?: string | undefined;
  /** Size of the data. */
  readonly bytes?: number | undefined;
}

/** What `structured` of a tool's result holds where attachments came with it; without any it is the server's structured content itself. */
export interface McpStructuredOutput {
  readonly structuredContent: unknown;
  readonly attachments: readonly McpAttachment[];
}

const bytesOf = (base64: string): number => Math.floor((base64.replace(/=+$/, "").length * 3) / 4);

/** The text and the attachments of a result, part by part. */
class Parts {
  readonly texts: string[] = [];
  readonly attachments: McpAttachment[] = [];
  readonly #words: Texts;
  #room = KEPT_DATA;

  constructor(words: Texts) {
    this.#words = words;
  }

  add(content: Content): void {
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
    const fits = data.length <= this.#room;
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
      this.#words.render("mcp.media", {
        kind: shown,
        mimeType: mimeType ?? "application/octet-stream",
        bytes,
      }),
    );
  }

  #addResource(resource: Extract<Content, { type: "resource" }>["resource"]): void {
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

/** The first `limit` characters and a note of the full length. A character outside the basic plane is never cut in two. */
function cut(text: string, limit: number, words: Texts): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  const end = last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit;
  return text.slice(0, end) + words.render("mcp.truncated", { length: text.length });
}

/** What a server gave back, as a tool's result: text for the model, the rest beside it. */
export function toToolResult(result: CallToolResult, limit: number, words: Texts): ToolResult {
  const parts = new Parts(words);
  for (const content of result.content) parts.add(content);
  const { structuredContent } = result;
  // A server that has structured content is asked to send it as text too; not all do.
  const text =
    parts.texts.length === 0 && structuredContent !== undefined
      ? JSON.stringify(structuredContent)
      : parts.texts.join("\n");
  if (result.isError === true)
    return ToolResult.failure(
      text.trim() === "" ? "MCP tool returned an error" : cut(text, limit, words),
    );
  const structured: unknown =
    parts.attachments.length === 0
      ? structuredContent
      : { structuredContent, attachments: parts.attachments };
  return ToolResult.success(cut(text, limit, words), structured);
}
