import type { ChatModel, ChatModelProvider } from "./chat-model.js";
import type { HierarchicalConstraints } from "./constraints.js";
import type { DelegationPolicy } from "./delegation.js";
import type {
  AgentSynthesizer,
  AgentToolSource,
  PlanDiagram,
  TaskExecutor,
  WorkflowExecutor,
} from "./executors.js";
import type { ModelCheck } from "./model-check.js";
import type { BudgetAccounts } from "./budget-accounts.js";
import type { CaptureMode, CaptureModeDefinition } from "./capture.js";
import type { ContextFormatDefinition } from "./context-format.js";
import type { ConversationStore, WindowPolicy } from "./conversation.js";
import type { CostConfiguration } from "./cost.js";
import type { DashboardPanel } from "./dashboard-panel.js";
import type { HttpMount } from "./http-mount.js";
import type { ServiceObserver } from "./service-observer.js";
import type { HttpRoute } from "./http-route.js";
import type { Journal, JournalCodec, ResumableRuns } from "./journal.js";
import type { MemoryStore } from "./memory.js";
import type { RateWindow } from "./rate-window.js";
import type { TracePropagation } from "./propagation.js";
import type { SpendingGuard } from "./spending.js";
import type { SecretFilter } from "./redaction.js";
import type { ReflectionStore } from "./reflection.js";
import type { RetryPolicy } from "./retry.js";
import type { ApprovalPolicy, ReviewGate, ReviewHandler, ReviewStore } from "./review.js";
import type { TokenCounter } from "./token-counter.js";
import type { RunStore } from "./run-store.js";
import type { Clock, IdGenerator } from "./runtime.js";
import type { ToolLike } from "./tool.js";
import type { Token } from "./token.js";
import type { FolderExporter, TraceBuilder, TraceExporter } from "./trace.js";
import { OUTSIDE_ACCESS } from "./outside.js";
import { createToken } from "./token.js";

/** The tokens of all dependencies that the framework looks up. See `docs/tokens.md`. */
export const Tokens = Object.freeze({
  ChatModel: createToken<ChatModel>("ChatModel"),
  ChatModelProvider: createToken<ChatModelProvider>("ChatModelProvider", "many"),
  ModelCheck: createToken<ModelCheck>("ModelCheck"),
  WorkflowExecutor: createToken<WorkflowExecutor>("WorkflowExecutor", "many"),
  TaskExecutor: createToken<TaskExecutor>("TaskExecutor", "many"),
  PlanDiagram: createToken<PlanDiagram>("PlanDiagram"),
  AgentSynthesizer: createToken<AgentSynthesizer>("AgentSynthesizer"),
  PromptTemplates: createToken<Readonly<Record<string, string>>>("PromptTemplates", "many"),
  RetryPolicy: createToken<RetryPolicy>("RetryPolicy"),
  MemoryStore: createToken<MemoryStore>("MemoryStore"),
  ReviewHandler: createToken<ReviewHandler>("ReviewHandler"),
  ReviewStore: createToken<ReviewStore>("ReviewStore"),
  ReviewGate: createToken<ReviewGate>("ReviewGate"),
  OutsideAccess: OUTSIDE_ACCESS,
  ApprovalPolicy: createToken<ApprovalPolicy>("ApprovalPolicy", "many"),
  ReflectionStore: createToken<ReflectionStore>("ReflectionStore"),
  ConversationStore: createToken<ConversationStore>("ConversationStore"),
  WindowPolicy: createToken<WindowPolicy>("WindowPolicy"),
  CostConfiguration: createToken<CostConfiguration>("CostConfiguration"),
  CaptureMode: createToken<CaptureModeDefinition>("CaptureMode", "many"),
  DefaultCaptureMode: createToken<CaptureMode>("DefaultCaptureMode"),
  ContextFormat: createToken<ContextFormatDefinition>("ContextFormat", "many"),
  TokenCounter: createToken<TokenCounter>("TokenCounter"),
  Tool: createToken<ToolLike>("Tool", "many"),
  AgentToolSource: createToken<AgentToolSource>("AgentToolSource", "many"),
  DelegationPolicy: createToken<DelegationPolicy>("DelegationPolicy", "many"),
  HierarchicalConstraints: createToken<HierarchicalConstraints>("HierarchicalConstraints"),
  SecretFilter: createToken<SecretFilter>("SecretFilter", "many"),
  TraceBuilder: createToken<TraceBuilder>("TraceBuilder"),
  TraceExporter: createToken<TraceExporter>("TraceExporter", "many"),
  FolderExporter: createToken<FolderExporter>("FolderExporter"),
  TracePropagation: createToken<TracePropagation>("TracePropagation"),
  RunStore: createToken<RunStore>("RunStore"),
  SpendingGuard: createToken<SpendingGuard>("SpendingGuard"),
  BudgetAccounts: createToken<BudgetAccounts>("BudgetAccounts"),
  RateWindow: createToken<RateWindow>("RateWindow"),
  HttpRoute: createToken<HttpRoute>("HttpRoute", "many"),
  HttpMount: createToken<HttpMount>("HttpMount", "many"),
  ServiceObserver: createToken<ServiceObserver>("ServiceObserver", "many"),
  DashboardPanel: createToken<DashboardPanel>("DashboardPanel", "many"),
  KeptRuns: createToken<ResumableRuns>("KeptRuns", "many"),
  Journal: createToken<Journal>("Journal"),
  JournalCodec: createToken<JournalCodec>("JournalCodec"),
  Clock: createToken<Clock>("Clock"),
  IdGenerator: createToken<IdGenerator>("IdGenerator"),
});

/** The tokens of the framework that collect contributions. All other tokens have one value. */
export const MANY_TOKENS: readonly Token<unknown, "many">[] = Object.freeze([
  Tokens.ChatModelProvider,
  Tokens.WorkflowExecutor,
  Tokens.TaskExecutor,
  Tokens.PromptTemplates,
  Tokens.Tool,
  Tokens.AgentToolSource,
  Tokens.DelegationPolicy,
  Tokens.TraceExporter,
  Tokens.CaptureMode,
  Tokens.ApprovalPolicy,
  Tokens.OutsideAccess,
  Tokens.ContextFormat,
  Tokens.SecretFilter,
  Tokens.HttpRoute,
  Tokens.HttpMount,
  Tokens.ServiceObserver,
  Tokens.DashboardPanel,
  Tokens.KeptRuns,
]);
