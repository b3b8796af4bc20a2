import { createHash } from "node:crypto";
import type { ChatMessage, ChatRequest } from "../../contracts/chat-model.js";
import { canonicalJson } from "../../util/json/canonical.js";
import { PartDigests } from "./part-digests.js";

/**
 * Returns the content of a request, independent of run and time. Ids of tool calls, which vendors
 * generate randomly, are replaced by their position in the conversation. The content of images and
 * files is replaced by its hash.
 */
export function canonicalRequest(
  request: ChatRequest,
  digests: PartDigests = new PartDigests(),
): ChatRequest {
  const ids = new Map<string, string>();
  const idOf = (id: string): string => {
    if (!ids.has(id)) ids.set(id, `call-${ids.size + 1}`);
    return ids.get(id) as string; // set above
  };
  const messages = request.messages.map((message) =>
    withIds(digests.withoutContent(message), idOf),
  );
  return { ...request, messages };
}

/**
 * Returns the SHA-256 of a request and its model, as hexadecimal digits. It is the key of the
 * answer in caches and recordings. Pass `identity` of the model to exclude answers of other
 * endpoints and accounts. `digests` has the hashes of earlier requests.
 */
export function requestKey(
  request: ChatRequest,
  model: { readonly provider: string; readonly modelId: string },
  {
    identity,
    digests,
  }: { readonly identity?: string | undefined; readonly digests?: PartDigests } = {},
): string {
  const { provider, modelId } = model;
  return createHash("sha256")
    .update(
      canonicalJson({ provider, modelId, identity, request: canonicalRequest(request, digests) }),
    )
    .digest("hex");
}

function withIds(message: ChatMessage, idOf: (id: string) => string): ChatMessage {
  if (message.role === "tool") return { ...message, toolCallId: idOf(message.toolCallId) };
  if (message.role !== "assistant" || message.toolCalls === undefined) return message;
  return {
    ...message,
    toolCalls: message.toolCalls.map((call) => ({ ...call, id: idOf(call.id) })),
  };
}
