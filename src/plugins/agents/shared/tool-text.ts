import { createHash } from "node:crypto";
import type { ChatMessage, ToolCall } from "../../../contracts/chat-model.js";
import type { ContentPart } from "../../../contracts/content.js";
import type { TaskScope } from "../../../contracts/run.js";
import type { AnyTool } from "../../../contracts/tool.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { AgentTemplateName } from "./agent-prompts.js";
import { ToolExecutionError } from "../../../contracts/errors.js";
import { summaryOfPart } from "../../../contracts/part-summary.js";
import { isTakenFromTool } from "../../../contracts/part-support.js";
import { partLine } from "../../../util/part-line.js";
import { cutText } from "../../../util/text.js";
import { messageOf } from "../../../util/errors.js";

type ToolTexts = PromptTexts<AgentTemplateName>;

/**
 * Calls a tool. Returns its result or failure as a message for the model.
 * @throws every error except a ToolExecutionError.
 */
export async function callForText(
  call: ToolCall,
  tools: readonly AnyTool[],
  scope: TaskScope,
  texts: ToolTexts,
): Promise<ChatMessage> {
  let content: string;
  let isError = true;
  let parts: readonly ContentPart[] = [];
  try {
    const result = await scope.callTool(call, tools);
    isError = !result.ok;
    parts = result.parts ?? parts; // a result of another copy of the package may have no parts
    content = result.ok
      ? scope.format(result.structured, result.output)
      : texts.render("tool.failure", { message: result.errorMessage });
  } catch (error) {
    if (!ToolExecutionError.isInstance(error)) throw error;
    content = texts.render("tool.thrown", { message: thrownText(error.cause ?? error) });
  }
  content = truncate(content, scope.maxToolOutputLength, texts);
  if (tools.find((tool) => tool.name === call.name)?.untrusted === true) {
    content = fenced(content, texts);
    parts = outsideParts(parts, scope, texts);
  }
  return isError
    ? { role: "tool", toolCallId: call.id, toolName: call.name, content, isError }
    : {
        role: "tool",
        toolCallId: call.id,
        toolName: call.name,
        content,
        ...(parts.length > 0 && { parts }),
      };
}

/**
 * Encloses external text in two markers. The text can't contain them, because they contain the hash
 * of the text. Equal texts have equal markers, so that caches and replays recognize requests.
 */
function fenced(text: string, texts: ToolTexts): string {
  const fence = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return texts.render("tool.untrusted", { fence, text });
}

/**
 * Marks external parts. Replaces each part that the model does not accept by a line, because such a
 * part would fail the run.
 */
function outsideParts(
  parts: readonly ContentPart[],
  { model }: TaskScope,
  texts: ToolTexts,
): readonly ContentPart[] {
  const lines: string[] = [];
  const shown = parts.map((part): ContentPart => {
    if (part.type === "text") return { type: "text", text: fenced(part.text, texts) };
    // An external name may contain an instruction.
    const { name: _, ...known } = summaryOfPart(part);
    const file = partLine(known);
    if (!isTakenFromTool(part, model))
      return { type: "text", text: texts.render("tool.untaken", { file }) };
    lines.push(file);
    return part;
  });
  if (lines.length === 0) return shown;
  const note = texts.render("tool.untrustedFiles", { files: lines.join(", ") });
  return [{ type: "text", text: note }, ...shown];
}

function thrownText(error: unknown): string {
  return error instanceof Error && error.message === ""
    ? "Tool execution failed with no message"
    : messageOf(error);
}

/** Returns the first `limit` characters and a note of the full length. -1 means no limit. */
function truncate(text: string, limit: number, texts: ToolTexts): string {
  return limit < 0 || text.length <= limit
    ? text
    : cutText(text, limit, texts.render("tool.truncated", { length: text.length }));
}
