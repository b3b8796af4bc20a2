/** Streams for pages: runs as UI message streams of the AI SDK and as AG-UI events. */
export type {
  UIChunk,
  UIMessageLike,
  UIMessagesOptions,
  UIStreamOptions,
  UITask,
} from "./contracts/ui-stream.js";
export { toAgUiEvents, toAgUiResponse } from "./plugins/ui/ag-ui/ag-ui-events.js";
export type { AgUiOptions } from "./plugins/ui/ag-ui/ag-ui-events.js";
export type { PageResponseOptions } from "./plugins/ui/shared/page-response-options.js";
export { StreamStore } from "./plugins/shared/ui-stream/in-memory-streams.js";
export type { InMemoryStreamsOptions } from "./plugins/shared/ui-stream/in-memory-streams.js";
export {
  toUIMessageStream,
  toUIMessageStreamResponse,
} from "./plugins/ui/ui-message/ui-message-stream.js";
export { fromUIMessage } from "./plugins/shared/ui-message/from-ui-message.js";
export { toUIMessages } from "./plugins/shared/ui-message/ui-messages.js";
