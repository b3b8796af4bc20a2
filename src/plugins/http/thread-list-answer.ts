import type { ThreadHead } from "../../contracts/conversation.js";
import type { Fields } from "../../util/objects.js";
import type { ChatConversation } from "./chat-handler-options.js";

/**
 * Returns a page of the threads of one owner, the most recently changed first. Without an owner,
 * returns the threads that have none.
 * @throws ValidationError for an invalid `limit` or `after`.
 */
export async function listedThreads(
  conversation: ChatConversation,
  owner: string | undefined,
  query: URLSearchParams,
): Promise<Fields> {
  const limit = query.get("limit");
  const after = query.get("after");
  const { threads, next } = await conversation.threads({
    owner,
    ...(limit !== null && { limit: Number(limit) }),
    ...(after !== null && { after }),
  });
  // Without an owner, the store lists all threads.
  const own = threads.filter((thread) => thread.owner === owner);
  return { threads: own.map(listedThread), ...(next !== undefined && { next }) };
}

function listedThread({ id, title, turns, createdAt, updatedAt }: ThreadHead): Fields {
  return { id, ...(title !== undefined && { title }), turns, createdAt, updatedAt };
}
