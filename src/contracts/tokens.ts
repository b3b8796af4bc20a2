import type { AbstractNewable } from "inversify";
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
import type { CaptureMode, CaptureModeDefinition } from "./capture.js";
import type { ContextFormatDefinition } from "./context-format.js";
import type { CostConfiguration } from "./cost.js";
import type { MemoryStore } from "./memory.js";
import type { SecretFilter } from "./redaction.js";
import type { ReflectionStore } from "./reflection.js";
import type { RetryPolicy } from "./retry.js";
import type { ApprovalPolicy, ReviewGate, ReviewHandler, ReviewStore } from "./review.js";
import type { TokenCounter } from "./token-counter.js";
import type { Clock, IdGenerator } from "./runtime.js";
import type { ToolLike } from "./tool.js";
import type { FolderExporter, TraceBuilder, TraceExporter } from "./trace.js";

/**
 * The name of a dependency, typed by what is bound to it. At run time it is `Symbol.for("agentensemble/" + name)`, the same in every copy of the package;
 * the declared type is an abstract class because only that carries `T` through inversify's `get`, `bind` and `@inject`.
 */
export type Token<T, C extends "single" | "many" = "single"> = AbstractNewable<T> & {
  readonly __cardinality?: C;
};

/** Makes a token of your own. `many` collects contributions; `single` (default) has one value. */
export function createToken<T>(name: string, cardinality: "many"): Token<T, "many">;
export function createToken<T>(name: string, cardinality?: "single"): Token<T, "single">;
export function createToken<T>(name: string): Token<T, "single" | "many"> {
  return Symbol.for(`agentensemble/${name}`) as unknown as Token<T>; // see the type: a symbol at run time
}

/** The dependencies that the framework itself looks up; see `docs/tokens.md`. */
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
  ApprovalPolicy: createToken<ApprovalPolicy>("ApprovalPolicy", "many"),
  ReflectionStore: createToken<ReflectionStore>("ReflectionStore"),
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
  Clock: createToken<Clock>("Clock"),
  IdGenerator: createToken<IdGenerator>("IdGenerator"),
});

/** The tokens of the framework that collect contributions; all others have one value. */
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
  Tokens.ContextFormat,
  Tokens.SecretFilter,
]);

/** The name a token was made with. */
export function tokenName(token: unknown): string {
  return typeof token === "symbol"
    ? (token.description ?? "").replace(/^agentensemble\//, "")
    : typeof token === "function"
      ? token.name
      : String(token);
}
