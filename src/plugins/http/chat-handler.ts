import type { Principal } from "../../contracts/http-route.js";
import type { ChatConversation, ChatHandlerOptions } from "./chat-handler-options.js";
import type { RunOwnership } from "./review-access.js";
import type { RoutedHandler } from "./serve-endpoints.js";
import { ChatDesk } from "./chat-desk.js";
import { resolveChatOptions } from "./chat-handler-options.js";
import { serveEndpoints } from "./serve-endpoints.js";

/**
 * A handler of the threads of a conversation. Records the principal of each turn. With `reviews`,
 * subscribes to their store, so that turns may wait for answers there.
 */
export interface ChatHandler extends RoutedHandler, RunOwnership {
  /** Ends the subscription to the review store. Requests are still answered. */
  close(): void;
}

/**
 * Creates a handler for `useChat` of the AI SDK. Callers and operators may use it. The endpoints,
 * with the default path `/api/chat`:
 *
 * - `POST {path}` takes `{ id, messages, trigger, messageId }`, or `message` in place of
 *   `messages`. Returns the stream of a turn of thread `id`.
 * - `GET {path}` lists the threads of the caller.
 * - `GET {path}/:id` returns the messages of a thread.
 * - `DELETE {path}/:id` deletes a thread.
 * - `GET {path}/:id/stream` returns the stream of the turn in progress from its beginning. `?turn=`
 *   selects the turn that `GET {path}/:id` named as in progress.
 * - `DELETE {path}/:id/stream` stops the turn in progress.
 * - `GET {path}/:id/usage` returns the used quotas of the caller and the thread.
 *
 * Only the `owner` of the principal that started a thread has access to it. Principals without an
 * owner share the threads without one.
 * @throws ValidationError
 */
export function chatHandler(conversation: ChatConversation, o: ChatHandlerOptions): ChatHandler {
  const settings = resolveChatOptions(conversation, o);
  const desk = new ChatDesk(conversation, settings);
  return Object.assign(
    serveEndpoints(settings, desk.endpoints(), () => true),
    {
      startedBy: (runId: string, principal: Principal) => desk.startedBy(runId, principal),
      close: () => desk.close(),
    },
  );
}
