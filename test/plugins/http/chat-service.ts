import type { Authenticate, ConversationOptions } from "agentensemble";
import type { ChatHandler, ChatHandlerOptions } from "agentensemble/http";
import type { UIChunk } from "agentensemble/ui";
import type { UIMessage } from "ai";
import { Agent, Conversation } from "agentensemble";
import { chatHandler } from "agentensemble/http";
import { ScriptedModel } from "agentensemble/testing";
import { serve, type Ask, type Service } from "./service.js";

/** Owners by the header `x-user`; `guest` has none. */
export const byOwner: Authenticate = (request) => {
  const name = request.headers.get("x-user") ?? "";
  if (name === "") return undefined;
  return { name, role: "caller", ...(name !== "guest" && { owner: name }) };
};

/** A conversation served by a handler on loopback. */
export interface ChatService extends AsyncDisposable {
  readonly chat: Conversation;
  readonly handler: ChatHandler;
  readonly service: Service;
  /** Sends a request of `useChat`. */
  post(body: object, ask?: Ask): Promise<Response>;
  /** Sends a message of the user. */
  send(id: string, text: string, ask?: Ask & { readonly messageId?: string }): Promise<Response>;
}

/** A model that answers with the last text of the user. */
function echo(): ScriptedModel {
  return new ScriptedModel(({ messages }) => {
    const last = messages.findLast(({ role }) => role === "user");
    const text = typeof last?.content === "string" ? last.content : "(parts)";
    return { text: `re: ${text}`, chunks: ["re: ", text] };
  });
}

export async function chatService(
  conversation: Partial<ConversationOptions> = {},
  o: Partial<ChatHandlerOptions> = {},
): Promise<ChatService> {
  const chat = new Conversation({
    agent: new Agent({ role: "Clerk", goal: "Answers" }),
    model: echo(),
    ...conversation,
  });
  const handler = chatHandler(chat, { authenticate: byOwner, ...o });
  const service = await serve(handler);
  const post: ChatService["post"] = (body, ask) => service.fetch("/api/chat", { body, ...ask });
  return {
    chat,
    handler,
    service,
    post,
    send: (id, text, { messageId, ...ask } = {}) =>
      post({ id, messages: [userMessage(text, messageId)], trigger: "submit-message" }, ask),
    [Symbol.asyncDispose]: async () => {
      handler.close();
      await service[Symbol.asyncDispose]();
      await chat.dispose();
    },
  };
}

export function userMessage(text: string, id: string = `m-${text}`): UIMessage {
  return { id, role: "user", parts: [{ type: "text", text }] };
}

/** The parts of a response. */
export async function partsIn(answer: Response): Promise<readonly UIChunk[]> {
  return (await answer.text())
    .split("\n\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)) as UIChunk); // our own stream
}
