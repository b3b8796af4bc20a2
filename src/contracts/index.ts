export { Agent, checkModel } from "./agent.js";
export type { AgentOptions, Handoff, HandoffOptions, Handoffs } from "./agent.js";
export { handoff } from "./handoff.js";
export { canonicalRole } from "./role.js";
export type {
  AssistantMessage,
  ChatCallOptions,
  ChatChunk,
  ChatMessage,
  ChatModel,
  ChatModelProvider,
  ChatRequest,
  ChatResponse,
  FinishReason,
  ModelCapabilities,
  ModelOptions,
  ModelRef,
  Purpose,
  ToolAnswer,
  ToolCall,
  ToolSpec,
  Usage,
} from "./chat-model.js";
export { attachment } from "./attachment.js";
export type { ContentPart } from "./content.js";
export { HierarchicalConstraints } from "./constraints.js";
export type { HierarchicalConstraintsOptions } from "./constraints.js";
export type { AgentSummary, Dag, DagEdge, DagLink, DagTask, RunDag } from "./dag.js";
export { DelegationPolicyResult, workerOf } from "./delegation.js";
export type {
  DelegationPolicy,
  DelegationPolicyContext,
  DelegationRequest,
  DelegationResponse,
  ManagerPromptStrategy,
  WorkerResult,
} from "./delegation.js";
export type { EmbeddingModel, StoredVector, VectorMatch, VectorStore } from "./embedding.js";
export { Workflow } from "./ensemble-options.js";
export type {
  AnyGraph,
  EnsembleOptions,
  ExplainedTask,
  Explanation,
  PromptTemplate,
  ScheduleOptions,
  ScheduleTimes,
  ServiceOptions,
  ShareSettings,
  SharedTask,
  SharedTool,
  SpreadOptions,
} from "./ensemble-options.js";
export {
  AgentEnsembleError,
  AgentExecutionError,
  ExitEarlySignal,
  GuardrailViolationError,
  HookRejectedError,
  MaxIterationsExceededError,
  ModelCallError,
  OutputParsingError,
  PluginError,
  PromptTemplateError,
  RateLimitTimeoutError,
  RunCancelledError,
  RunSuspendedError,
  RunTimeoutError,
  TaskExecutionError,
  TaskTimeoutError,
  ToolConfigurationError,
  ToolExecutionError,
  ValidationError,
  endsRun,
} from "./errors.js";
export {
  ConstraintViolationError,
  GraphNoEdgeMatchedError,
  MaxGraphStepsExceededError,
  MaxLoopIterationsExceededError,
  ParallelExecutionError,
} from "./workflow-errors.js";
export {
  JournalError,
  RunFencedError,
  RunInUseError,
  RunPoisonedError,
  ToolInDoubtError,
} from "./journal-errors.js";
export type {
  Claim,
  ClaimEnd,
  ClaimRequest,
  Journal,
  JournalCodec,
  ResumableRuns,
  JournalEntry,
  JournalEntryKind,
  KeptEntry,
  KeptError,
  KeptRun,
  KeptRuns,
  Renewal,
  RunFilter,
  RunPage,
  RunResult,
  RunStart,
  RunStatus,
} from "./journal.js";
export { NetworkError, RequestConflictError, ServiceStateError } from "./network-errors.js";
export { NetworkTokens, WORK_VERSION } from "./network.js";
export type {
  Catalogue,
  CatalogueEntry,
  DeadLetter,
  EnqueueReceipt,
  FleetLimits,
  Lease,
  NetworkBackend,
  QueueDepth,
  QueueState,
  Remote,
  RequestQueue,
  ResultStore,
  SharedCapability,
  Topics,
  Transport,
  WorkReason,
  WorkRequest,
  WorkResponse,
} from "./network.js";
export type { Ingress, IngressPort, IngressWork } from "./ingress.js";
export type { WebhookOptions } from "./webhooks.js";
export type { DeliveryOptions, WorkBudget, WorkCache, WorkPriority } from "./network-options.js";
export type { CallerQuota, QueueLimits, QueueOptions, QuotaState } from "./queue-options.js";
export type { ServiceObserver } from "./service-observer.js";
export { Schedule } from "./schedule.js";
export type {
  ActiveRequest,
  CallerOptions,
  Service,
  ServiceEvent,
  ServiceEventFilter,
  ServiceSchedule,
  ServiceState,
  StartOptions,
} from "./service.js";
export type { EnsembleAccess } from "./ensemble-access.js";
export type { FetchFailure, FileAccessReason } from "./state-errors.js";
export {
  AccessDeniedError,
  BudgetExceededError,
  CommandError,
  DashboardError,
  FetchError,
  FileAccessError,
  FileFormatError,
  JournalMismatchError,
  LimitStoreError,
  McpError,
  MemoryConflictError,
  MemoryStoreError,
  RecordingMismatchError,
  ReviewError,
  ReviewUnavailableError,
  ReviewTimeoutError,
  RunStoreError,
  noMemoryStore,
  storeFailure,
} from "./state-errors.js";
export type { ErrorDetails } from "./errors.js";
export type { ModelErrorCode } from "./model-error-code.js";
export type {
  EnsembleCallbacks,
  EnsembleEvent,
  EnsembleListener,
  Ev,
  EvBase,
  EventStream,
  EventType,
  EvTask,
  NewEvent,
  ObserveOptions,
} from "./events.js";
export type {
  AgentSynthesizer,
  AgentToolSource,
  ExecutorResult,
  PlanDiagram,
  PromptPreview,
  TaskExecutor,
  WorkflowExecutor,
} from "./executors.js";
export { Graph } from "./graph.js";
export type { GraphEdge, GraphHistory, GraphOptions, GraphStep } from "./graph.js";
export { GuardrailResult, namedGuardrail } from "./guardrail.js";
export type { InputGuardrail, OutputGuardrail } from "./guardrail.js";
export { allowedRequest } from "./allowed-request.js";
export { answer, reject, replace } from "./hooks.js";
export type {
  After,
  AfterHook,
  AfterVerdicts,
  Answer,
  BeforeHook,
  BeforeVerdicts,
  OwnedRateLimit,
  DelegationCall,
  EnsembleHooks,
  LlmCall,
  MemoryWrite,
  OutputAllowance,
  PromptSection,
  Reject,
  Replace,
  RestoredCall,
  RunCall,
  TapOptions,
  TaskAnswer,
  TaskCall,
  ToolCallContext,
} from "./hooks.js";
export { Loop } from "./loop.js";
export type { LoopHistory, LoopIteration, LoopOptions, OutputLookup } from "./loop.js";
export type { MapReduceNode } from "./map-reduce.js";
export { MEMORY_METADATA } from "./memory.js";
export type {
  EntityMemory,
  EvictionPolicy,
  LongTermMemory,
  MemoryEntry,
  MemoryOperationCounts,
  MemoryOptions,
  MemoryStore,
  SharedMemoryStore,
  VersionedEntries,
} from "./memory.js";
export { MemoryScope } from "./memory-scope.js";
export { contextOutput, findOutput, reviseOutput } from "./output.js";
export type {
  EnsembleOutput,
  ExecutionMetrics,
  ExitReason,
  OutputPatch,
  TaskMetrics,
  TaskOutput,
  ToolUse,
  WorkflowResult,
} from "./output.js";
export { Phase, PhaseReview } from "./phase.js";
export type { PhaseOptions } from "./phase.js";
export type { Plan, PlannedTask } from "./plan.js";
export type { PlanDescription, PlanEdge, PlanStep } from "./plan-description.js";
export { definePlugin } from "./plugin.js";
export type { BindApi, KernelApi, KernelDescription, Plugin, PluginContext } from "./plugin.js";
export { RateLimit } from "./rate-limit.js";
export type {
  ReflectionInput,
  ReflectionOptions,
  ReflectionStore,
  ReflectionStrategy,
  TaskLesson,
  TaskReflection,
} from "./reflection.js";
export { redactorOf } from "./redaction.js";
export type { Redactor, SecretFilter } from "./redaction.js";
export type { RetryPolicy } from "./retry.js";
export { asReviewDecision, checkReviewOptions, Review, ReviewDecision } from "./review.js";
export type {
  ApprovalPolicy,
  OnReviewTimeout,
  ReviewAsker,
  ReviewGate,
  ReviewHandler,
  ReviewOptions,
  ReviewQuestion,
  ReviewRemarks,
  ReviewRequest,
  ReviewResolution,
  ReviewStore,
  ReviewTiming,
  StoredReview,
} from "./review.js";
export { CaptureMode } from "./capture.js";
export type { CaptureModeDefinition } from "./capture.js";
export { isRefused, priceOf } from "./cost.js";
export type { CostConfiguration, CostEstimate, CostRates, Price } from "./cost.js";
export type {
  ContextFormatDefinition,
  ContextFormatSavings,
  ContextFormatter,
} from "./context-format.js";
export type { TokenCounter } from "./token-counter.js";
export type {
  ChatOptions,
  DefineOptions,
  DelegateOptions,
  HookRun,
  IsLast,
  MemoryTarget,
  SubPlanOptions,
  Revision,
  Run,
  RunHandle,
  RunOptions,
  WorkflowReport,
  TaskContext,
  RunTaskOptions,
  TaskMetricsUpdate,
  TaskMemory,
  TaskScope,
} from "./run.js";
export type {
  LimitWait,
  RateRequest,
  RateTurn,
  RateWait,
  RateWindow,
  WindowLimit,
} from "./rate-window.js";
export type { CallingTask, RunInfo, RunValue, ScopeName, ValueOptions } from "./run-info.js";
export type { AuditAction, AuditEntry, AuditPage } from "./run-store.js";
export type { LogEntry, RunQuery, RunStore, RunSummary, RunSums, WorkState } from "./run-store.js";
export type { Clock, IdGenerator, IdUse } from "./runtime.js";
export { prompt, PromptText } from "./prompt-text.js";
export type { Text } from "./prompt-text.js";
export { Task } from "./task.js";
export type {
  AnyTask,
  CommonTaskOptions,
  OutputOf,
  PlainTaskOptions,
  StructuredTaskOptions,
  TaskHandler,
} from "./task.js";
export { requireUsable } from "./model-check.js";
export type { ModelCheck } from "./model-check.js";
export { Tokens } from "./tokens.js";
export { createToken } from "./token.js";
export type { Token } from "./token.js";
export { isTool, isToolProvider, noReviewer, resumeOf, tool } from "./tool.js";
export { ToolResult } from "./tool-result.js";
export type {
  AnyTool,
  DynamicToolProvider,
  Tool,
  ToolBase,
  ToolContext,
  ToolLike,
  ToolReturn,
} from "./tool.js";
export type { Source, ToolResultExtra } from "./tool-result.js";
export type { CapturedMessage, TracedPrompts } from "./captured-message.js";
export type { PartSummary } from "./part-summary.js";
export { checkToolInput } from "./tool-input.js";
export type { Checked } from "./tool-input.js";
export type {
  CalledToolOutcome,
  DelegationRecord,
  DelegationTrace,
  ErrorTrace,
  ExecutionTrace,
  FolderExporter,
  GraphTrace,
  LlmInteraction,
  LoopTrace,
  ReviewRecord,
  ReviewTrace,
  MapReduceLevelTrace,
  MemoryAccess,
  ModelCallRecord,
  PhaseTrace,
  RunRecord,
  TaskRecord,
  TaskTrace,
  ToolCallRecord,
  ToolCallTrace,
  ToolOutcome,
  TraceBuilder,
  TraceExporter,
} from "./trace.js";
export { runValue } from "./run-value.js";
export type { Awaitable, Inputs, InputSchema, JsonSchema, Outcome, OutputSchema } from "./types.js";
export { askOutside } from "./outside.js";
export type { OutsideAccess, OutsideCall } from "./outside.js";
export type { ForeignUsage, SavedUsage, SpentUsage, UsageRecord } from "./usage.js";
export type { DashboardPanel } from "./dashboard-panel.js";
export type { HttpMount, MountAddress, MountedHttp } from "./http-mount.js";
export type { Authenticate, HttpRoute, Principal, PrincipalRole } from "./http-route.js";
export type { RunPlace, TraceContext, TracePropagation } from "./propagation.js";
export type {
  BudgetAccount,
  BudgetAccountRequest,
  BudgetAccounts,
  BudgetAmount,
  BudgetReservation,
  BudgetState,
  SharedBudget,
} from "./budget-accounts.js";
export type { SpendingGrant, SpendingGuard, SpendingLimits, SpendingRequest } from "./spending.js";
