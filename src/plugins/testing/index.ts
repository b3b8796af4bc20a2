export { conversationStoreContract } from "./conversation-store-contract.js";
export type {
  ConversationStoreContractOptions,
  ConversationStoreUnderTest,
} from "./conversation-store-contract.js";
export { budgetAccountContract } from "./budget-account-contract.js";
export type {
  BudgetAccountContractOptions,
  BudgetAccountsUnderTest,
} from "./budget-account-contract.js";
export { chatModelContract } from "./chat-model-contract.js";
export type {
  ChatModelContractOptions,
  ChatModelContractSupport,
  ChatModelScenario,
  ChatModelUnderTest,
} from "./chat-model-scenario.js";
export { journalContract } from "./journal-contract.js";
export type { JournalContractOptions, JournalUnderTest } from "./journal-scenario.js";
export { memoryStoreContract } from "./memory-store-contract.js";
export type { MemoryStoreContractOptions, MemoryStoreUnderTest } from "./memory-store-scenario.js";
export { rateWindowContract } from "./rate-window-contract.js";
export type { RateWindowContractOptions, RateWindowUnderTest } from "./rate-window-contract.js";
export { recordingListener } from "./recording-listener.js";
export type { RecordingListener } from "./recording-listener.js";
export { reviewStoreContract } from "./review-store-contract.js";
export type { ReviewStoreContractOptions, ReviewStoreUnderTest } from "./review-store-contract.js";
export { runStoreContract } from "./run-store-contract.js";
export type { RunStoreContractOptions, RunStoreUnderTest } from "./run-store-contract.js";
export { ScriptedModel } from "./scripted-model.js";
export type { ScriptedModelOptions } from "./scripted-model.js";
export type { ScriptedToolCall, ScriptStep as Step } from "./script-step.js";
export { taskExecutorContract } from "./task-executor-contract.js";
export type { TaskExecutorContractOptions } from "./task-executor-contract.js";
export { toolContract } from "./tool-contract.js";
export type { ToolContractOptions } from "./tool-contract.js";
export { traceExporterContract } from "./trace-exporter-contract.js";
export type {
  TraceExporterContractOptions,
  TraceExporterUnderTest,
} from "./trace-exporter-contract.js";
export { workflowContract } from "./workflow-contract.js";
export type { WorkflowContractOptions } from "./workflow-contract.js";
export { catalogueContract } from "./catalogue-contract.js";
export type { CatalogueContractOptions, CatalogueUnderTest } from "./catalogue-contract.js";
export { ingressContract } from "./ingress-contract.js";
export type {
  IngressAnswer,
  IngressContractOptions,
  IngressMessage,
  IngressUnderTest,
} from "./ingress-contract.js";
export { requestQueueContract } from "./request-queue-contract.js";
export type {
  RequestQueueCapabilities,
  RequestQueueContractOptions,
  RequestQueueUnderTest,
} from "./request-queue-scenario.js";
export { resultStoreContract } from "./result-store-contract.js";
export type { ResultStoreContractOptions, ResultStoreUnderTest } from "./result-store-contract.js";
export { topicsContract } from "./topics-contract.js";
export type { TopicsContractOptions, TopicsUnderTest } from "./topics-contract.js";
export { transportContract } from "./transport-contract.js";
export type { TransportContractOptions, TransportUnderTest } from "./transport-contract.js";
