import type { HttpRoute, Principal } from "../../../contracts/http-route.js";
import type { ThreadHead, ThreadMessage } from "../../../contracts/conversation.js";
import type { Board } from "../board.js";
import type { RegisteredConversation } from "../control/chat-threads.js";
import type {
  ConversationInfo,
  ConversationListBody,
  ThreadBody,
  ThreadInfo,
  ThreadListBody,
  ThreadMessageInfo,
} from "../protocol/thread-bodies.js";
import type { BoardExchange } from "./answers.js";
import { ConversationStoreError } from "../../../contracts/conversation-errors.js";
import { ValidationError } from "../../../contracts/errors.js";
import { AccessDeniedError } from "../../../contracts/state-errors.js";
import { withTimeout } from "../../../util/abort/timeouts.js";
import { messageOf } from "../../../util/errors.js";
import { asText } from "../../../util/objects.js";
import { HttpRefusal, notFoundRefusal } from "../../shared/http/http-refusal.js";
import { boardJson, boardRoute, countIn } from "./answers.js";

/** Time limit of a store of conversations, in milliseconds. */
const STORE_MS = 10_000;
const MAX_THREADS = 100;
const MAX_TURNS = 200;
const TURNS = 50;

/** Returns the routes of the threads of conversations. They are read-only. */
export function threadRoutes(board: Board): readonly HttpRoute[] {
  const threads = "/api/conversations/{name}/threads";
  return [
    boardRoute("GET", "/api/conversations", "viewer", ({ request }) => {
      const conversations = [...conversationsOf(board), ...board.processes.conversations];
      const body: ConversationListBody = { conversations };
      return boardJson(JSON.stringify(body), request);
    }),
    boardRoute("GET", threads, "viewer", (asked) => listThreads(board, asked)),
    boardRoute("GET", `${threads}/{threadId}`, "viewer", (asked) => oneThread(board, asked)),
  ];
}

/** Returns the registered conversations of this process. */
export function conversationsOf({ chats }: Board): readonly ConversationInfo[] {
  return chats.all.map(({ name, title }) => ({ name, ...(title !== undefined && { title }) }));
}

/** @throws HttpRefusal 404 */
function askedChat({ chats }: Board, { parameters }: BoardExchange): RegisteredConversation {
  const chat = chats.get(parameters["name"] ?? "");
  if (chat !== undefined) return chat;
  throw notFoundRefusal("CONVERSATION_NOT_FOUND", "No conversation is registered under this name");
}

/**
 * Returns the owner whose threads are requested. A principal with an owner may not read other
 * threads.
 */
function ownerIn({ owner }: Principal, query: URLSearchParams): string | undefined {
  return owner ?? query.get("owner") ?? undefined;
}

async function listThreads(board: Board, asked: BoardExchange): Promise<Response> {
  const { query, principal, request } = asked;
  const { chat } = askedChat(board, asked);
  const owner = ownerIn(principal, query);
  const after = query.get("after") ?? undefined;
  const limit = countIn(query, "limit", { least: 1, most: MAX_THREADS, otherwise: 50 });
  const page = await chatAnswer(() => chat.threads({ owner, limit, after }));
  const body: ThreadListBody = {
    threads: page.threads.map((head) => infoOfThread(board, head)),
    ...(page.next !== undefined && { next: page.next }),
  };
  return boardJson(JSON.stringify(body), request);
}

async function oneThread(board: Board, asked: BoardExchange): Promise<Response> {
  const { query, principal, parameters, request } = asked;
  const { chat } = askedChat(board, asked);
  const before = query.get("before") ?? undefined;
  const limit = countIn(query, "limit", { least: 1, most: MAX_TURNS, otherwise: TURNS });
  const body = await chatAnswer(async (): Promise<ThreadBody | undefined> => {
    const thread = chat.thread(parameters["threadId"] ?? "", { owner: ownerIn(principal, query) });
    const head = await thread.head();
    if (head === undefined) return undefined;
    const messages = await thread.messages({ limit, ...(before !== undefined && { before }) });
    const turns = new Set(messages.map(({ turnId }) => turnId)).size;
    const first = messages[0]?.turnId;
    return {
      thread: infoOfThread(board, head),
      messages: messages.map((message) => infoOfMessage(board, message)),
      ...(first !== undefined && turns === limit && { previous: first }),
    };
  });
  if (body === undefined) throw threadNotFound();
  return boardJson(JSON.stringify(body), request);
}

/**
 * Calls a conversation.
 * @throws HttpRefusal 404 for a thread of another owner; 503 if the store fails or does not
 * respond; ValidationError
 */
async function chatAnswer<T>(work: () => Promise<T>): Promise<T> {
  try {
    const late = (): never => {
      throw new Error(`no answer within ${STORE_MS} ms`);
    };
    return await withTimeout(work, { ms: STORE_MS, late });
  } catch (error) {
    if (AccessDeniedError.find(error) !== undefined) throw threadNotFound();
    if (ValidationError.isInstance(error)) throw error;
    const failed = ConversationStoreError.find(error) ?? error;
    throw new HttpRefusal(
      503,
      "STORE_UNAVAILABLE",
      `The store of conversations failed: ${messageOf(failed)}`,
      { headers: { "Retry-After": "5" } },
    );
  }
}

function threadNotFound(): HttpRefusal {
  return notFoundRefusal("THREAD_NOT_FOUND", "There is no such thread");
}

function infoOfThread(board: Board, head: ThreadHead): ThreadInfo {
  const { id, owner, title, turns, agentRole, createdAt, updatedAt } = head;
  return {
    id,
    ...(owner !== undefined && { owner }),
    ...(title !== undefined && board.settings.contents && { title: shownText(board, title) }),
    turns,
    ...(agentRole !== undefined && { agentRole }),
    createdAt,
    updatedAt,
  };
}

function infoOfMessage(board: Board, message: ThreadMessage): ThreadMessageInfo {
  const { id, turnId: runId, at, role, agentRole, content } = message;
  const files = mediaTypesIn(content);
  const calls = role === "assistant" ? (message.toolCalls ?? []) : [];
  return {
    id,
    runId,
    at,
    role,
    ...(agentRole !== undefined && { agentRole }),
    text: shownText(board, messageText(content)),
    ...(files.length > 0 && { files }),
    ...(calls.length > 0 && {
      calls: calls.map((call) => ({
        name: call.name,
        arguments: shownText(board, call.arguments),
      })),
    }),
  };
}

/** Returns the redacted text. Empty if contents do not leave the process. */
function shownText(board: Board, text: string): string {
  return asText(board.shownValue(text));
}

function messageText(content: ThreadMessage["content"]): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n\n");
}

function mediaTypesIn(content: ThreadMessage["content"]): readonly string[] {
  if (typeof content === "string") return [];
  return content.flatMap((part) => (part.type === "text" ? [] : (part.mediaType ?? part.type)));
}
