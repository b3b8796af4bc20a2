import type { ThreadMessage } from "../../contracts/conversation.js";
import type { UIChunk, UIMessagesOptions } from "../../contracts/ui-stream.js";
import type { Fields } from "../../util/objects.js";
import { clientInput } from "../shared/ui-stream/tool-texts.js";
import { toUIMessages } from "../shared/ui-message/ui-messages.js";

/**
 * The prefix of the type of a part for a call that a page executed. The name of the tool follows.
 */
const CLIENT_TOOL = "tool-";

/**
 * Returns the stream of a stored turn, with each text in one piece. Returns `undefined` if the
 * messages contain no answer of the turn.
 */
export function storedAnswer(
  messages: readonly ThreadMessage[],
  { turnId, threadId }: { readonly turnId: string; readonly threadId: string },
  { reasoning, sources, tools }: UIMessagesOptions,
): readonly UIChunk[] | undefined {
  const turn = messages.filter((message) => message.turnId === turnId);
  const answer = toUIMessages(turn, { reasoning, sources, tools }).at(-1);
  if (answer?.role !== "assistant") return undefined;
  return [
    { type: "start", messageId: answer.id },
    ...answer.parts.flatMap((part, n) => chunksOfPart(part, String(n))),
    { type: "finish", finishReason: "stop", messageMetadata: { turnId, threadId } },
  ];
}

function chunksOfPart(part: UIChunk, id: string): readonly UIChunk[] {
  const { type } = part;
  if (type === "step-start") return [{ type: "start-step" }];
  if (type === "dynamic-tool") return chunksOfCall(part);
  if (type.startsWith(CLIENT_TOOL)) return chunksOfClientCall(part);
  if (type !== "text" && type !== "reasoning") return [part];
  return [
    { type: `${type}-start`, id },
    { type: `${type}-delta`, id, delta: part["text"] },
    { type: `${type}-end`, id },
  ];
}

function chunksOfCall({ state, ...part }: Fields): readonly UIChunk[] {
  const { toolCallId, toolName, input, title, output, errorText } = part;
  const call = { type: "tool-input-available", toolCallId, toolName, input, dynamic: true };
  return [
    title === undefined ? call : { ...call, title },
    {
      type: `tool-${String(state)}`,
      toolCallId,
      ...(state === "output-available" && { output, dynamic: true }),
      ...(state === "output-error" && { errorText, dynamic: true }),
    },
  ];
}

/**
 * Returns the parts of a call. Omits `tool-input-available`, because the page would execute the
 * call again.
 */
function chunksOfClientCall({ type, state, ...part }: UIChunk): readonly UIChunk[] {
  const { toolCallId, input, title, output, errorText } = part;
  return [
    ...clientInput({ toolCallId, toolName: type.slice(CLIENT_TOOL.length), title }, input),
    {
      type: `tool-${String(state)}`,
      toolCallId,
      ...(state === "output-available" && { output }),
      ...(state === "output-error" && { errorText }),
    },
  ];
}
