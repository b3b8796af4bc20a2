/**
 * Teams of agents: the exports that most programs need. The contracts are exported first. A factory
 * with the name of a type is also exported by name. The export by name takes precedence.
 */
export * from "./contracts/index.js";
export type {
  AttachmentLimits,
  AttachmentOptions,
  AudioPart,
  CacheOption,
  FilePart,
  ImagePart,
  JsonValue,
  MediaPart,
  PartSupport,
  ReasoningOptions,
  ReasoningPart,
  TextPart,
} from "./contracts/content.js";
export type { ReasoningChunk } from "./contracts/chat-model.js";
export type * from "./contracts/conversation.js";
export * from "./contracts/conversation-errors.js";
export {
  AgentSynthesizer,
  EntityMemory,
  EvictionPolicy,
  LongTermMemory,
  MemoryStore,
  ReflectionStore,
  ReviewHandler,
} from "./ensemble/factories.js";
export { Conversation } from "./conversation/conversation.js";
export type {
  ConversationOptions,
  OnTurnFailure,
  OwnerQuota,
  ThreadOptions,
  ThreadQuota,
  ThreadUsage,
  TurnGuardrails,
  TurnOptions,
} from "./conversation/conversation-options.js";
export { ConversationStore, WindowPolicy } from "./conversation/factories.js";
export type {
  ForkOptions,
  MessageQuery,
  ResumedTurn,
  Thread,
  TurnHandle,
} from "./conversation/thread.js";
export type { TurnContent } from "./conversation/turn-input.js";
export type { InMemoryThreadsOptions } from "./plugins/conversation/memory-store/in-memory-threads.js";
export type { SqlThreadsOptions } from "./plugins/conversation/sql-store/sql-threads-options.js";
export type {
  LastTurnsOptions,
  SummaryWindowOptions,
} from "./plugins/conversation/windows/window-policies.js";
export { Ensemble } from "./ensemble/ensemble.js";
export { standardPlugins } from "./ensemble/standard-plugins.js";
export { Kernel } from "./kernel/kernel.js";
export { MapReduceEnsemble } from "./map-reduce/map-reduce-ensemble.js";
export type { MapReduceOptions } from "./map-reduce/options.js";
export { agentTool } from "./plugins/delegation/agent-tool/index.js";
export type { AgentToolOptions } from "./plugins/delegation/agent-tool/index.js";
export { guardrails } from "./plugins/guardrails/index.js";
export type { GuardrailsOptions } from "./plugins/guardrails/index.js";
export { linearRegex } from "./plugins/guardrails/linear-regex.js";
export type { LinearRegex } from "./plugins/guardrails/linear-regex.js";
export type { FileStoreOptions } from "./plugins/memory/file/index.js";
export type { InMemoryEntityMemory } from "./plugins/memory/in-memory/index.js";
export { anthropic, anthropicProvider } from "./plugins/providers/anthropic/index.js";
export type { AnthropicOptions } from "./plugins/providers/anthropic/index.js";
export { openai, openaiProvider } from "./plugins/providers/openai/index.js";
export type { OpenAIOptions } from "./plugins/providers/openai/index.js";
