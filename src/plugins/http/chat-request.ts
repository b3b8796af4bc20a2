import type { ContentPart, AttachmentLimits } from "../../contracts/content.js";
import type { ThreadMessage } from "../../contracts/conversation.js";
import type { Fields } from "../../util/objects.js";
import type { ChatThread } from "./chat-handler-options.js";
import { asFields, asList } from "../../util/objects.js";
import { badRequest, notFoundRefusal } from "../shared/http/http-refusal.js";
import { fromUIMessage } from "../shared/ui-message/from-ui-message.js";

/** Number of last turns that are searched for a message. */
const LAST_TURNS = 50;

type MessageContent = string | readonly ContentPart[];

/** The work that a page requests. */
export type ChatRequestWork =
  | {
      readonly kind: "send";
      readonly content: MessageContent;
      readonly messageId: string | undefined;
    }
  | {
      readonly kind: "edit";
      /** The stored message of the user. */
      readonly question: ThreadMessage & { readonly role: "user" };
      /** The new content. `undefined` if the message is sent again unchanged. */
      readonly content?: MessageContent | undefined;
    };

/**
 * Reads a request of `useChat`. Reads only the last message of the user, because the store has the
 * thread.
 * @throws HttpRefusal 400, 404; ValidationError for an invalid message; the errors of the thread.
 */
export async function chatWorkOf(
  { trigger = "submit-message", messageId, messages, message }: Fields,
  thread: ChatThread,
  limits: AttachmentLimits,
): Promise<ChatRequestWork> {
  if (messageId !== undefined && typeof messageId !== "string")
    throw badRequest("messageId must be a text");
  const given =
    asFields(message) ??
    asList(messages)
      .map(asFields)
      .findLast((one) => one?.["role"] === "user");
  if (trigger === "regenerate-message") return again(thread, limits, { messageId, given });
  if (trigger !== "submit-message")
    throw badRequest("trigger must be submit-message or regenerate-message");
  const work = sent(given, limits);
  if (messageId === undefined || messageId !== work.messageId) return work;
  const question = await questionAt(thread, [messageId]);
  // The same content means that the request is a repetition, which the thread refuses.
  return question === undefined || isSameContent(question.content, work.content)
    ? work
    : { kind: "edit", question, content: work.content };
}

function sent(
  given: Fields | undefined,
  limits: AttachmentLimits,
): Extract<ChatRequestWork, { readonly kind: "send" }> {
  if (given === undefined) throw badRequest("The request has no message of the user");
  const parts = fromUIMessage(given, limits);
  const [only] = parts;
  const isText = parts.length === 1 && only?.type === "text";
  return {
    kind: "send",
    content: isText ? only.text : parts,
    messageId: given["id"] as string | undefined, // the thread checks it
  };
}

/**
 * Returns the work that answers a turn again. A failed turn that was not stored is sent as a new
 * message.
 */
async function again(
  thread: ChatThread,
  limits: AttachmentLimits,
  o: { readonly messageId: string | undefined; readonly given: Fields | undefined },
): Promise<ChatRequestWork> {
  const ids = [o.messageId, o.given?.["id"]].filter((id) => typeof id === "string");
  const question = ids.length > 0 ? await questionAt(thread, ids) : await lastQuestion(thread);
  if (question !== undefined) return { kind: "edit", question };
  if (o.given !== undefined) return sent(o.given, limits);
  throw notFoundRefusal("MESSAGE_NOT_FOUND", "The thread has no such message");
}

/**
 * Returns a message of the user. Its turn is that of the first of these message ids that the thread
 * contains.
 */
async function questionAt(
  thread: ChatThread,
  ids: readonly string[],
): Promise<(ThreadMessage & { readonly role: "user" }) | undefined> {
  const messages = await thread.messages({ limit: LAST_TURNS });
  for (const at of ids) {
    const found = messages.find(({ id, turnId }) => id === at || `${turnId}-a` === at);
    const question = messages.find(
      ({ turnId, role }) => turnId === found?.turnId && role === "user",
    );
    if (question?.role === "user") return question;
  }
  return undefined;
}

async function lastQuestion(
  thread: ChatThread,
): Promise<(ThreadMessage & { readonly role: "user" }) | undefined> {
  const [question] = await thread.messages({ limit: 1 });
  return question?.role === "user" ? question : undefined;
}

function isSameContent(one: MessageContent, other: MessageContent): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
