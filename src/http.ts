/** Request handlers for any HTTP server: runs of an ensemble, their streams, and reviews. */
export { loopbackOnly } from "./plugins/http/loopback-only.js";
export { toNodeListener } from "./plugins/http/node-listener.js";
export type { NodeRequest } from "./plugins/http/node-listener.js";
export type { HttpOptions } from "./plugins/http/http-options.js";
export type { RunOwnership } from "./plugins/http/review-access.js";
export { reviewsHandler } from "./plugins/http/reviews-handler.js";
export type { ReviewsHandler, ReviewsHandlerOptions } from "./plugins/http/reviews-handler.js";
export { runHandler } from "./plugins/http/run-handler.js";
export type { RunHandler } from "./plugins/http/run-handler.js";
export type {
  RunHandlerOptions,
  StreamingEnsemble,
  StreamProtocol,
} from "./plugins/http/run-handler-options.js";
export type { FetchHandler, RoutedHandler } from "./plugins/http/serve-endpoints.js";
export { chatHandler } from "./plugins/http/chat-handler.js";
export type { ChatHandler } from "./plugins/http/chat-handler.js";
export type {
  ChatConversation,
  ChatHandlerOptions,
  ChatThread,
} from "./plugins/http/chat-handler-options.js";
