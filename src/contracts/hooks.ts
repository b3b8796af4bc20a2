import type { Agent } from "./agent.js";
import type { ChatModel, ChatRequest, ChatResponse, Purpose, ToolCall } from "./chat-model.js";
import type { DelegationRequest, DelegationResponse } from "./delegation.js";
import type { AgentEnsembleError } from "./errors.js";
import type { MemoryEntry } from "./memory.js";
import type { EnsembleOutput, TaskOutput } from "./output.js";
import type { PlannedTask } from "./plan.js";
import type { RateLimit } from "./rate-limit.js";
import type { HookRun, Revision } from "./run.js";
import type { AnyTask } from "./task.js";
import type { AnyTool } from "./tool.js";
import type { ToolResult } from "./tool-result.js";
import type { Awaitable, Outcome } from "./types.js";
import { reviseOutput } from "./output.js";

/** Verdict of a transforming tap: changes these fields. */
export interface Replace<T> {
  readonly verb: "replace";
  readonly value: T;
}
/** Verdict of a policy tap: refuses. */
export interface Reject {
  readonly verb: "reject";
  readonly reason: string | AgentEnsembleError;
}
/** Verdict of an answering tap: supplies the result in place of the work. */
export interface Answer<T> {
  readonly verb: "answer";
  readonly value: T;
}

/** Changes fields of a call or a result. Only the fields in the hook's table may be changed. */
export function replace<T>(patch: NoInfer<T>): Replace<T> {
  return { verb: "replace", value: patch };
}

/** Refuses a call or a result with an error. A text becomes a HookRejectedError. */
export function reject(reason: string | AgentEnsembleError): Reject {
  return { verb: "reject", reason };
}

/** Supplies the result in place of the work, for a cache, a replay or a stub. */
export function answer<T>(value: NoInfer<T>): Answer<T> {
  return { verb: "answer", value };
}

/** Options of a tap. */
export interface TapOptions {
  /** The name in errors. */
  readonly name: string;
  /** Position within the lane. Taps with equal positions run as registered. Default `normal`. */
  readonly order?: "pre" | "normal" | "post" | undefined;
  /**
   * Reaction to an error of the tap. `fail` (default) fails the step. `skip` ignores the tap's
   * verdict and emits `run_warning`.
   */
  readonly onError?: "fail" | "skip" | undefined;
  /** Time limit of one call in milliseconds. A tap that exceeds it has failed. Default: none. */
  readonly timeoutMs?: number | undefined;
}

/** The verdicts allowed in each lane of a before hook. Lanes run in this order. */
export interface BeforeVerdicts<C, R> {
  transform: void | Replace<Partial<C>>;
  policy: void | Reject;
  answer: void | Answer<R>;
}

/**
 * A hook before a step. `P`: payload of a tap. `C`: fields that a transform may change. `R`: type
 * of the value of an answer. `Ls`: lanes of the hook.
 */
export interface BeforeHook<
  P,
  C,
  R,
  Ls extends keyof BeforeVerdicts<C, R> = keyof BeforeVerdicts<C, R>,
> {
  tap(fn: (call: P) => Awaitable<BeforeVerdicts<C, R>["policy"]>): void;
  tap(
    options: TapOptions & { readonly lane?: undefined },
    fn: (call: P) => Awaitable<BeforeVerdicts<C, R>["policy"]>,
  ): void;
  tap<L extends Ls>(
    options: TapOptions & { readonly lane: L },
    fn: (call: P) => Awaitable<BeforeVerdicts<C, R>[L]>,
  ): void;
}

/**
 * The verdicts allowed in each lane of an after hook. Lanes run in this order. After a `replace` in
 * the review lane, the policies run again.
 */
export interface AfterVerdicts<C> {
  transform: void | Replace<Partial<C>>;
  policy: void | Reject;
  review: void | Replace<Partial<C>>;
  commit: void;
}

/** A hook after a step. Fires exactly once for each before hook that fired, with any outcome. */
export interface AfterHook<
  P,
  K extends string,
  R,
  C,
  Ls extends keyof AfterVerdicts<C> = keyof AfterVerdicts<C>,
> {
  tap(fn: (call: After<P, K, R>) => Awaitable<AfterVerdicts<C>["transform"]>): void;
  tap(
    options: TapOptions & { readonly lane?: undefined },
    fn: (call: After<P, K, R>) => Awaitable<AfterVerdicts<C>["transform"]>,
  ): void;
  tap<L extends Ls>(
    options: TapOptions & { readonly lane: L },
    fn: (call: After<P, K, R>) => Awaitable<AfterVerdicts<C>[L]>,
  ): void;
}

/** The result part of an after call, one member per outcome. A check of `outcome` narrows it. */
export type Settled<O, K extends string, R> = O extends "ok" | "answered"
  ? { readonly outcome: O; readonly error?: undefined } & { readonly [X in K]: R }
  : { readonly outcome: O; readonly error: Error } & { readonly [X in K]?: undefined };

/** The payload of an after tap: the call, its outcome, and the result or the error. */
export type After<P, K extends string, R> = P & Settled<Outcome, K, R>;

/** A section that a plugin adds to the user prompt. The prompt builder positions the slots. */
export interface PromptSection {
  readonly slot:
    "memory" | "shortTerm" | "context" | "longTerm" | "entity" | "improvement" | "revision";
  readonly text: string;
  readonly data?: unknown;
}

/** A run, in the payload of a hook. */
export interface RunCall {
  readonly run: HookRun;
}

/** A task before its start, or after its end. */
export interface TaskCall {
  readonly run: HookRun;
  readonly taskId: string;
  /**
   * The name of the task within the run. Independent of the order of its siblings. Equals the
   * task's id, except for a delegated task: `{identity of the delegating task}@{its
   * attempt}>{toolCallId}`, with the suffix `~2` for the second delegation of one tool call. For a
   * delegation outside of a tool call, the part after `>` is empty.
   */
  readonly identity: string;
  /** The task with filled templates. */
  readonly task: AnyTask;
  /** The task object that the user passed. */
  readonly source: AnyTask;
  /** The group of a task outside of the task list: a phase, its review, a loop, the graph. */
  readonly group?: PlannedTask["group"];
  readonly agent?: Agent | undefined;
  readonly contextOutputs: readonly TaskOutput[];
  readonly promptSections: readonly PromptSection[];
  /** The number of the attempt of the task, from 1. */
  readonly attempt: number;
  readonly revision?: Revision | undefined;
  /** Number of attempts left if a policy refuses the output. Default 0. */
  readonly retriesLeft?: number | undefined;
  /** The id of the task that delegated or defined this task. */
  readonly parentTaskId?: string | undefined;
  /** Returns whether this task is the last of the run, for this output. Absent: false. */
  readonly isLast?: ((output: TaskOutput) => boolean) | undefined;
  /** Aborted at the end of the task. */
  readonly signal: AbortSignal;
}

/** A model call. `iteration` counts the calls of the attempt, from 0. */
export interface LlmCall {
  readonly run: HookRun;
  readonly taskId: string;
  readonly parentTaskId?: string | undefined;
  /** The number of the task's attempt, from 1. 0: the task's agent is being created. */
  readonly taskAttempt: number;
  readonly agentRole: string;
  readonly purpose: Purpose;
  readonly iteration: number;
  /** The number of the attempt of the call, from 1. */
  readonly attempt: number;
  readonly request: ChatRequest;
  readonly model: ChatModel;
  /**
   * A limit of output tokens in addition to the `maxOutputTokens` of the request. Set by budgets.
   * The engine sends the lower limit. The allowance is not part of the request, because caches and
   * recordings compare requests. Absent: no further limit.
   */
  readonly allowance?: OutputAllowance | undefined;
  /** The rate limits that apply to this call, each with its owner. Each owner has one window. */
  readonly rateLimits: readonly OwnedRateLimit[];
  /**
   * Calls with a higher priority leave the queue of a rate limit first. The priority of the task:
   * see `RunTaskOptions.priority`. Default `NORMAL`.
   */
  readonly priority?: DelegationRequest["priority"] | undefined;
  /** Aborted at the end of the task. A tap that waits must end its wait when the signal aborts. */
  readonly signal: AbortSignal;
}

/** Limit of the output of a model call. */
export interface OutputAllowance {
  readonly maxOutputTokens: number;
}

/** A rate limit and its owner: an agent, a task, a model, or the limit itself (ensemble). */
export interface OwnedRateLimit {
  readonly owner: object;
  readonly limit: RateLimit;
}

/** A tool call. `input` has passed the tool's validation. */
export interface ToolCallContext {
  readonly run: HookRun;
  readonly taskId: string;
  readonly agentRole: string;
  readonly tool: AnyTool;
  readonly call: ToolCall;
  readonly input: unknown;
  readonly parentTaskId?: string | undefined;
  /** The number of the task's attempt, from 1. */
  readonly attempt: number;
  /** As `ToolContext.idempotencyKey`. */
  readonly idempotencyKey: string;
  /** Aborted at the end of the task. */
  readonly signal: AbortSignal;
}

/** A delegation. */
export interface DelegationCall {
  readonly run: HookRun;
  /** The id of the delegating task. */
  readonly taskId: string;
  /** `TaskCall.identity` of the worker's task. */
  readonly identity: string;
  readonly delegatorRole: string;
  readonly request: DelegationRequest;
  readonly depth: number;
  readonly maxDepth: number;
  readonly availableWorkerRoles: readonly string[];
}

/** A write to memory. */
export interface MemoryWrite {
  readonly run: HookRun;
  /** The id of the writing task. */
  readonly taskId: string;
  /** The number of the task's attempt, from 1. */
  readonly attempt: number;
  readonly scope: string;
  readonly entry: MemoryEntry;
}

/** A model call of a task in an earlier execution of the run. */
export interface RestoredCall {
  readonly provider: string;
  readonly modelId: string;
  readonly purpose: Purpose;
  /** As `LlmCall.iteration`. */
  readonly iteration: number;
  /** The response. Its `usage` counts in ledger, totals and trace, with outcome `answered`. */
  readonly response: ChatResponse;
}

/** The value of an answer to `beforeTask`. Default of `parsed`: `raw`, parsed by the schema. */
export interface TaskAnswer {
  readonly raw: string;
  readonly parsed?: unknown;
  /** The model calls that produced the answer. Default: none. */
  readonly calls?: readonly RestoredCall[] | undefined;
  /** The number of tool calls that produced the answer. Default 0. */
  readonly toolCallCount?: number | undefined;
  /** The role of the agent that gave the answer. Default: the role of the task's agent. */
  readonly agentRole?: string | undefined;
}

/** All hooks. `docs/hooks.md` lists their lanes and changeable fields. */
export interface EnsembleHooks {
  readonly beforeRun: BeforeHook<RunCall, never, never, "policy">;
  readonly afterRun: AfterHook<RunCall, "output", EnsembleOutput, never, "transform" | "commit">;
  readonly beforeTask: BeforeHook<
    TaskCall,
    Pick<TaskCall, "promptSections" | "contextOutputs">,
    TaskAnswer
  >;
  readonly afterTask: AfterHook<TaskCall, "output", TaskOutput, Pick<TaskOutput, "raw" | "parsed">>;
  readonly beforeLlmCall: BeforeHook<
    LlmCall,
    Pick<LlmCall, "request" | "model" | "allowance">,
    ChatResponse
  >;
  readonly afterLlmCall: AfterHook<
    LlmCall & { readonly durationMs: number },
    "response",
    ChatResponse,
    { readonly response: ChatResponse }
  >;
  readonly beforeToolCall: BeforeHook<ToolCallContext, Pick<ToolCallContext, "input">, ToolResult>;
  readonly afterToolCall: AfterHook<
    ToolCallContext,
    "result",
    ToolResult,
    { readonly result: ToolResult }
  >;
  readonly beforeDelegation: BeforeHook<
    DelegationCall,
    Pick<DelegationCall, "request">,
    DelegationResponse
  >;
  readonly afterDelegation: AfterHook<
    DelegationCall,
    "response",
    DelegationResponse,
    { readonly response: DelegationResponse }
  >;
  readonly beforeMemoryWrite: BeforeHook<MemoryWrite, Pick<MemoryWrite, "entry">, MemoryEntry>;
  readonly afterMemoryWrite: AfterHook<
    MemoryWrite,
    "entry",
    MemoryEntry,
    never,
    "transform" | "commit"
  >;
}

/** The names of all lanes. A hook runs its lanes in this order. */
export type LaneName = keyof BeforeVerdicts<unknown, unknown> | keyof AfterVerdicts<unknown>;

/** The definition of one hook. */
export interface HookDefinition {
  /** The lanes of the hook, in the order in which they run. */
  readonly lanes: Readonly<Partial<Record<LaneName, true>>>;
  readonly defaultLane: LaneName;
  /** The fields that `replace` may set. */
  readonly fields: Readonly<Partial<Record<string, true>>>;
  /** Applies a patch. Default: the patch replaces the fields of the call with the same names. */
  merge?(call: object, patch: Readonly<Record<string, unknown>>): object;
}

interface Defined<L extends LaneName, C> extends HookDefinition {
  readonly lanes: Readonly<Record<L, true>>;
  readonly defaultLane: L;
  readonly fields: Readonly<Record<[C] extends [never] ? never : keyof C, true>>;
}
type DefinitionOf<H> =
  H extends BeforeHook<infer _P, infer C, infer _R, infer L>
    ? Defined<L, C>
    : H extends AfterHook<infer _P, infer _K, infer _R, infer C, infer L>
      ? Defined<L, C>
      : never;

/** A finished task. A patch can change only the output of a result. */
interface Done {
  readonly output: TaskOutput;
}

const BEFORE = Object.freeze({ transform: true, policy: true, answer: true });
const AFTER = Object.freeze({ transform: true, policy: true, review: true, commit: true });

/** The definitions of all hooks. A missing or superfluous lane or field is a compile error. */
export const HOOKS: { readonly [K in keyof EnsembleHooks]: DefinitionOf<EnsembleHooks[K]> } = {
  beforeRun: { lanes: { policy: true }, defaultLane: "policy", fields: {} },
  afterRun: { lanes: { transform: true, commit: true }, defaultLane: "transform", fields: {} },
  beforeTask: {
    lanes: BEFORE,
    defaultLane: "policy",
    fields: { promptSections: true, contextOutputs: true },
  },
  afterTask: {
    lanes: AFTER,
    defaultLane: "transform",
    fields: { raw: true, parsed: true },
    // A patch of a task's output must match the task's schema. It can't only replace fields.
    merge: (call, patch) => ({ ...call, output: reviseOutput((call as Done).output, patch) }),
  },
  beforeLlmCall: {
    lanes: BEFORE,
    defaultLane: "policy",
    fields: { request: true, model: true, allowance: true },
  },
  afterLlmCall: { lanes: AFTER, defaultLane: "transform", fields: { response: true } },
  beforeToolCall: { lanes: BEFORE, defaultLane: "policy", fields: { input: true } },
  afterToolCall: { lanes: AFTER, defaultLane: "transform", fields: { result: true } },
  beforeDelegation: { lanes: BEFORE, defaultLane: "policy", fields: { request: true } },
  afterDelegation: { lanes: AFTER, defaultLane: "transform", fields: { response: true } },
  beforeMemoryWrite: { lanes: BEFORE, defaultLane: "policy", fields: { entry: true } },
  afterMemoryWrite: {
    lanes: { transform: true, commit: true },
    defaultLane: "transform",
    fields: {},
  },
};
