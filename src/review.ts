/**
 * Reviews by people: handlers, the tool with which agents ask, and the plugins that enforce
 * reviews.
 */
export { ReviewHandler } from "./ensemble/factories.js";
export type { ConsoleReviewOptions } from "./plugins/review/handlers/console-handler.js";
export type { LineSource } from "./plugins/review/handlers/line-input.js";
export type { TextSink } from "./plugins/review/handlers/terminal.js";
export { Review, ReviewDecision } from "./contracts/review.js";
export { review } from "./plugins/review/gate/index.js";
export type { ReviewPluginOptions } from "./plugins/review/gate/index.js";
export { reviewInbox } from "./plugins/review/gate/review-inbox.js";
export type { ReviewInbox } from "./plugins/review/gate/review-inbox.js";
export { humanInputTool } from "./plugins/review/human-input/human-input-tool.js";
export type {
  HumanInput,
  HumanInputOptions,
} from "./plugins/review/human-input/human-input-tool.js";
