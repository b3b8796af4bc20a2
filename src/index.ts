export {
  AgentSynthesizer,
  EntityMemory,
  EvictionPolicy,
  LongTermMemory,
  MemoryStore,
  ReflectionStore,
  ReviewHandler,
} from "./companions.js";
export type { FileStoreOptions } from "./plugins/memory/file/index.js";
export type { InMemoryEntityMemory } from "./plugins/memory/in-memory/index.js";
export { Agent } from "./contracts/agent.js";
export type { AgentOptions } from "./contracts/agent.js";
export type {
  ChatCallOptions,
  ChatChunk,
  ChatMessage,
  ChatModel,
  ChatModelProvider,
  ChatRequest,
  ChatResponse,
  ContentPart,
  FinishReason,
  ModelCapabilities,
  ModelOptions,
  ModelRef,
  Purpose,
  ToolCall,
  ToolSpec,
  Usage,
} from "./contracts/chat-model.js";
export { HierarchicalConstraints } from "./contracts/constraints.js";
export type { HierarchicalConstraintsOptions } from "./contracts/constraints.js";
export type { Dag, DagEdge, DagTask } from "./contracts/dag.js";
export { DelegationPolicyResult } from "./contracts/delegation.js";
export type {
  DelegationPolicy,
  DelegationPolicyContext,
  DelegationRequest,
  DelegationResponse,
  ManagerPromptStrategy,
} from "./contracts/delegation.js";
export type {
  EmbeddingModel,
  StoredVector,
  VectorMatch,
  VectorStore,
} from "./contracts/embedding.js";
export { Workflow } from "./contracts/ensemble-options.js";
export type {
  AnyGraph,
  EnsembleOptions,
  ExplainedTask,
  Explanation,
  KernelApi,
  PromptTemplate,
} from "./contracts/ensemble-options.js";
export {
  AgentEnsembleError,
  AgentExecutionError,
  ExitEarlySignal,
  GuardrailViolationError,
  HookRejectedError,
  MaxIterationsExceededError,
  ModelCallError,
  OutputParsingError,
  ParallelExecutionError,
  PluginError,
  PromptTemplateError,
  RateLimitTimeoutError,
  RunCancelledError,
  RunTimeoutError,
  TaskExecutionError,
  TaskTimeoutError,
  ToolConfigurationError,
  ToolExecutionError,
  ValidationError,
} from "./contracts/errors.js";
export {
  ConstraintViolationError,
  GraphNoEdgeMatchedError,
  MaxGraphStepsExceededError,
  MaxLoopIterationsExceededError,
} from "./contracts/workflow-errors.js";
export {
  AccessDeniedError,
  BudgetExceededError,
  CommandError,
  FetchError,
  FileAccessError,
  FileFormatError,
  JournalMismatchError,
  McpError,
  MemoryConflictError,
  MemoryStoreError,
  ReviewError,
  ReviewTimeoutError,
} from "./contracts/state-errors.js";
export type { FetchFailure } from "./contracts/state-errors.js";
export type { ErrorDetails, ModelErrorCode } from "./contracts/errors.js";
export type {
  EnsembleCallbacks,
  EnsembleEvent,
  EnsembleListener,
  Ev,
  EvBase,
  EventStream,
  EvTask,
  NewEvent,
} from "./contracts/events.js";
export type {
  AgentToolSource,
  ExecutorResult,
  PromptPreview,
  TaskExecutor,
  WorkflowExecutor,
} from "./contracts/executors.js";
export { Graph } from "./contracts/graph.js";
export type { GraphEdge, GraphHistory, GraphOptions, GraphStep } from "./contracts/graph.js";
export { GuardrailResult, namedGuardrail } from "./contracts/guardrail.js";
export type { InputGuardrail, OutputGuardrail } from "./contracts/guardrail.js";
export { answer, reject, replace } from "./contracts/hooks.js";
export type {
  After,
  AfterHook,
  AfterVerdicts,
  Answer,
  BeforeHook,
  BeforeVerdicts,
  BorneRateLimit,
  DelegationCall,
  EnsembleHooks,
  LlmCall,
  MemoryWrite,
  OutputAllowance,
  PromptSection,
  Reject,
  Replace,
  RunCall,
  TapOptions,
  TaskAnswer,
  TaskCall,
  ToolCallContext,
} from "./contracts/hooks.js";
export { Loop } from "./contracts/loop.js";
export type { LoopHistory, LoopIteration, LoopOptions, OutputLookup } from "./contracts/loop.js";
export type { MapReduceNode } from "./contracts/map-reduce.js";
export { MEMORY_METADATA } from "./contracts/memory.js";
export type {
  MemoryEntry,
  MemoryOperationCounts,
  MemoryOptions,
  SharedMemoryStore,
  VersionedEntries,
} from "./contracts/memory.js";
export { MemoryScope } from "./contracts/memory-scope.js";
export type {
  EnsembleOutput,
  ExecutionMetrics,
  ExitReason,
  TaskMetrics,
  TaskOutput,
  WorkflowResult,
} from "./contracts/output.js";
export { Phase, PhaseReview } from "./contracts/phase.js";
export type { PhaseOptions } from "./contracts/phase.js";
export type { Plan, PlannedTask } from "./contracts/plan.js";
export { definePlugin } from "./contracts/plugin.js";
export type { BindApi, Plugin, PluginContext } from "./contracts/plugin.js";
export { RateLimit } from "./contracts/rate-limit.js";
export type {
  ReflectionInput,
  ReflectionOptions,
  ReflectionStrategy,
  TaskReflection,
} from "./contracts/reflection.js";
export type { RetryPolicy } from "./contracts/retry.js";
export { Review, ReviewDecision } from "./contracts/review.js";
export type {
  ApprovalPolicy,
  OnReviewTimeout,
  ReviewAsker,
  ReviewGate,
  ReviewOptions,
  ReviewQuestion,
  ReviewRequest,
  ReviewTiming,
} from "./contracts/review.js";
export { CaptureMode } from "./contracts/capture.js";
export type { CaptureModeDefinition } from "./contracts/capture.js";
export type { CostConfiguration, CostEstimate, CostRates } from "./contracts/cost.js";
export type {
  ContextFormatDefinition,
  ContextFormatSavings,
  ContextFormatter,
} from "./contracts/context-format.js";
export type { TokenCounter } from "./contracts/token-counter.js";
export type {
  DefineOptions,
  DelegateOptions,
  IsLast,
  PartOptions,
  Revision,
  Run,
  RunInfo,
  RunOptions,
  RunReport,
  TaskContext,
  TaskExtras,
  TaskMeasures,
  TaskMemory,
  TaskScope,
} from "./contracts/run.js";
export type { Clock, IdGenerator, IdUse } from "./contracts/runtime.js";
export { Task } from "./contracts/task.js";
export type {
  AnyTask,
  CommonTaskOptions,
  OutputOf,
  PlainTaskOptions,
  StructuredTaskOptions,
  TaskHandler,
} from "./contracts/task.js";
export { createToken, Tokens } from "./contracts/tokens.js";
export type { Token } from "./contracts/tokens.js";
export { tool, ToolResult } from "./contracts/tool.js";
export type {
  AnyTool,
  DynamicToolProvider,
  Tool,
  ToolBase,
  ToolContext,
  ToolLike,
  ToolReturn,
} from "./contracts/tool.js";
export type {
  AgentSummary,
  DelegationRecord,
  DelegationTrace,
  ErrorTrace,
  ExecutionTrace,
  LlmInteraction,
  MapReduceLevelTrace,
  ModelCallRecord,
  RunRecord,
  TaskRecord,
  TaskTrace,
  ToolCallRecord,
  ToolCallTrace,
  ToolOutcome,
  TraceBuilder,
  TraceExporter,
} from "./contracts/trace.js";
export type { Awaitable, Inputs, JsonSchema, OutputSchema } from "./contracts/types.js";
export type { Outcome, UsageRecord } from "./contracts/usage.js";
export { Ensemble } from "./ensemble.js";
export type { RunHandle } from "./ensemble.js";
export { Kernel } from "./kernel/kernel.js";
export { MapReduceEnsemble } from "./map-reduce.js";
export type { MapReduceOptions } from "./map-reduce-options.js";
export { anthropic, anthropicProvider } from "./plugins/providers/anthropic/index.js";
export type { AnthropicOptions } from "./plugins/providers/anthropic/index.js";
export { openai, openaiProvider } from "./plugins/providers/openai/index.js";
export type { OpenAIOptions } from "./plugins/providers/openai/index.js";
export { standardPlugins } from "./standard-plugins.js";
