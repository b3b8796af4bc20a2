/** For tests of programs, plugins and providers: models that need no network, a kernel that repeats itself, and suites that check an implementation. */
export { testKernel } from "./ensemble/test-kernel.js";
export {
  chatModelContract,
  memoryStoreContract,
  recordingListener,
  reviewStoreContract,
  ScriptedModel,
  taskExecutorContract,
  toolContract,
  traceExporterContract,
  workflowContract,
} from "./plugins/testing/index.js";
export type {
  ChatModelContractOptions,
  ChatModelContractSupport,
  ChatModelScenario,
  ChatModelUnderTest,
  MemoryStoreContractOptions,
  MemoryStoreUnderTest,
  RecordingListener,
  ReviewStoreContractOptions,
  ReviewStoreUnderTest,
  ScriptedModelOptions,
  ScriptedToolCall,
  Step,
  TaskExecutorContractOptions,
  ToolContractOptions,
  TraceExporterContractOptions,
  TraceExporterUnderTest,
  WorkflowContractOptions,
} from "./plugins/testing/index.js";
