import type { Principal } from "../../contracts/http-route.js";
import type { ChatConversation, ChatHandlerOptions } from "./chat-handler-options.js";
import type { RunOwnership } from "./review-access.js";
import type { RoutedHandler } from "./serve-endpoints.js";
import { ChatDesk } from "./chat-desk.js";
import { resolveChatOptions } from "./chat-handler-options.js";
import { serveEndpoints } from "./serve-endpoints.js";

/**
 * A handler of the threads of a conversation, which knows the principal of each turn. With
 * `reviews`, it watches their store, so that turns may ask there.
 */
export interface ChatHandler extends RoutedHandler, RunOwnership {
  /** Stops watching the review store. Requests are still answered. */
  close(): void;
}

/**
 * Creates a handler for `useChat` of the AI SDK. `POST {path}` takes `{ id, messages, trigger,
 * messageId }`, or `message` in place of `messages`, and returns the stream of a turn of thread
 * `id`; `GET {path}` lists the threads of the caller; `GET {path}/:id` returns the messages of a
 * thread, and `DELETE {path}/:id` deletes it; `GET {path}/:id/stream` returns the stream of the
 * turn in progress from its beginning, with `?turn=` of the turn that `GET {path}/:id` named as in
 * progress, and `DELETE {path}/:id/stream` stops that turn; `GET {path}/:id/usage` returns what the
 * caller and the thread have used of their quotas. Default path `/api/chat`. Callers and
 * operators may use it. Only the `owner` of the principal that began a thread has access to it;
 * principals without an owner share the threads without one.
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
