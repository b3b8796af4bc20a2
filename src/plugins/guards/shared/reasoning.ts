import type { ChatResponse } from "../../../contracts/chat-model.js";

/**
 * Returns the response with the texts of its reasoning changed, or the same response. The data of
 * the vendor stays unchanged, because the next call sends it back.
 */
export function withReasoning(
  response: ChatResponse,
  change: (text: string) => string,
): ChatResponse {
  const { message, reasoning } = response;
  const changed = reasoning === undefined ? undefined : change(reasoning);
  const blocks = message.reasoning?.map((block) => {
    const text = change(block.text);
    return text === block.text ? block : { ...block, text };
  });
  const isSame = blocks?.every((block, index) => block === message.reasoning?.[index]) ?? true;
  if (isSame && changed === reasoning) return response;
  return {
    ...response,
    ...(changed !== undefined && { reasoning: changed }),
    message: { ...message, ...(blocks !== undefined && { reasoning: blocks }) },
  };
}
