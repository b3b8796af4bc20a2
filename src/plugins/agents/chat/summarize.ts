import type { ChatMessage } from "../../../contracts/chat-model.js";
import type { StoredTurn, SummaryRequest } from "../../../contracts/conversation.js";
import type { TaskScope } from "../../../contracts/run.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { AgentTemplateName } from "../shared/agent-prompts.js";
import { ModelCallError } from "../../../contracts/errors.js";
import { cutText } from "../../../util/text.js";
import { escapedText } from "./chat-messages.js";

const MAX_WORDS = 200;
/** The number of characters of a tool result that a summary is based on. */
const LONGEST_RESULT = 2_000;

/**
 * Calls a model for a summary of turns.
 * @throws the error of the call; ModelCallError for an empty summary.
 */
export async function summarizeTurns(
  { turns, previous, model, maxWords = MAX_WORDS }: SummaryRequest,
  scope: TaskScope,
  texts: PromptTexts<AgentTemplateName>,
): Promise<string> {
  const content = texts.render("conversation.summarize", {
    maxWords,
    previous:
      previous === undefined
        ? ""
        : texts.render("conversation.previous", { summary: escapedText(previous) }),
    text: escapedText(turns.map(transcriptOf).join("\n")),
  });
  const used = model === undefined ? scope.model : scope.run.resolveModel(model);
  const { message } = await scope.chat(
    { messages: [{ role: "user", content }] },
    { purpose: "summary", model: used },
  );
  const summary = message.content.trim();
  if (summary !== "") return summary;
  const { provider, modelId } = used;
  throw new ModelCallError(`Model '${modelId}' returned an empty summary`, { provider, modelId });
}

function transcriptOf({ messages }: StoredTurn): string {
  return messages.map(lineOf).join("\n");
}

function lineOf(message: ChatMessage): string {
  switch (message.role) {
    case "tool":
      return `Result of ${message.toolName}: ${cutText(message.content, LONGEST_RESULT, "...")}`;
    case "assistant": {
      const calls = (message.toolCalls ?? []).map((call) => `[calls ${call.name}]`);
      return `Assistant: ${[message.content, ...calls].filter((part) => part !== "").join(" ")}`;
    }
    default:
      return `User: ${textOfContent(message.content)}`;
  }
}

/** Returns the text of a message. Other parts are named by their type. */
function textOfContent(
  content: Extract<ChatMessage, { readonly role: "user" }>["content"],
): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join(" ");
}
