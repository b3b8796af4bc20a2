import type { Agent } from "../contracts/agent.js";
import type { ChatModel, ChatRequest, ChatResponse, ModelRef } from "../contracts/chat-model.js";
import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { TaskCall } from "../contracts/hooks.js";
import type { ChatOptions } from "./chat-gateway.js";
import type { AgentEnsembleError } from "../contracts/errors.js";
import type { TaskOutput } from "../contracts/output.js";
import type { PlannedTask } from "../contracts/plan.js";
import type { RunInfo, TaskMeasures } from "../contracts/run.js";
import type { AnyTask } from "../contracts/task.js";
import type { Redactor } from "../contracts/redaction.js";
import type { Inputs } from "../contracts/types.js";
import type { Cancellation } from "./cancellation.js";
import type { NewEvent } from "../contracts/events.js";
import type { RunEvents } from "./event-hub.js";
import type { Settings } from "./settings.js";
import type { Token } from "../contracts/tokens.js";
import type { Ledger } from "./ledger.js";
import type { GatewayScope } from "./task-scope.js";
import { ValidationError } from "../contracts/errors.js";
import { createRedactor } from "./redaction.js";

let revealParts: (info: ActiveRunInfo) => RunParts;

/** What a run that joins another one needs of it. */
export interface RunParts {
  readonly ledger: Ledger;
  readonly cancellation: Cancellation;
  readonly events: RunEvents;
  readonly settings: Settings;
  readonly parent: RunInfo | undefined;
  readonly startedAt: Date;
  readonly redactor: Redactor;
  /** What only the run itself can do, while it goes on. */
  control: RunControl | undefined;
}

/** What plugins may ask of a run that they know only by its info. */
export interface RunControl {
  stop(reason: AgentEnsembleError): void;
  note(taskId: string, measures: TaskMeasures): void;
  noteTraceId(traceId: string): void;
  emit(event: NewEvent): void;
  chat(call: TaskCall, request: ChatRequest, o: ChatOptions): Promise<ChatResponse>;
  format(value: unknown, text: string): string;
  source(taskId: string): AnyTask | undefined;
  /** The gateways of a task that has begun. */
  scopeOf(call: TaskCall): GatewayScope;
  outputs(): readonly TaskOutput[];
  group(taskId: string): PlannedTask["group"];
}

/** Look-ups of a run's settings, for taps that know the run only by its info. */
export interface RunSettings {
  /** Of the ensemble, as they were given. */
  readonly options: EnsembleOptions;
  get<T>(token: Token<T>): T;
  /** `undefined` where nothing is bound. */
  find<T>(token: Token<T>): T | undefined;
  all<T>(token: Token<T, "many">): readonly T[];
  /** A model from its name. @throws ValidationError naming the providers there are. */
  resolve(ref: ModelRef): ChatModel;
  /** The model that a task with this agent calls; `undefined` where there is none. @throws as `resolve`. */
  model(task: AnyTask, agent: Agent | undefined): ChatModel | undefined;
}

/** What anyone may know about a run; the parts for joining it are hidden in it. */
export class ActiveRunInfo implements RunInfo {
  readonly #parts: RunParts;

  static {
    revealParts = (info) => info.#parts;
  }

  constructor(
    readonly id: string,
    readonly inputs: Inputs,
    readonly tags: Readonly<Record<string, string>>,
    parts: RunParts,
  ) {
    this.#parts = parts;
    Object.freeze(this);
  }
}

/** @throws ValidationError for anything but the `run` of a running task. */
export function partsOf(parent: RunInfo): RunParts {
  if (parent instanceof ActiveRunInfo) return revealParts(parent);
  throw new ValidationError(
    "Not a running run: pass the `run` of the task context or hook call as it is",
  );
}

/** The run that this one joined with `parent`. */
export function parentOf(run: RunInfo): RunInfo | undefined {
  return run instanceof ActiveRunInfo ? revealParts(run).parent : undefined;
}

/** When a run started, as its trace says; `undefined` for a foreign object. */
export function startOf(run: RunInfo): Date | undefined {
  return run instanceof ActiveRunInfo ? revealParts(run).startedAt : undefined;
}

/** Ends a run for this reason: no further task starts, what is in flight may finish. It ends as failed with this error. */
export function stopRun(run: RunInfo, reason: AgentEnsembleError): void {
  partsOf(run).control?.stop(reason);
}

/** A task as the user wrote it, templates unfilled. */
export function sourceTaskOf(run: RunInfo, taskId: string): AnyTask | undefined {
  return run instanceof ActiveRunInfo ? revealParts(run).control?.source(taskId) : undefined;
}

/** Structured data for a prompt, from a tap: in the run's `contextFormat` where that is shorter than `text`. */
export function formatIn(run: RunInfo, value: unknown, text: string): string {
  return run instanceof ActiveRunInfo
    ? (revealParts(run).control?.format(value, text) ?? text)
    : text;
}

/** What takes the secrets of a run out of what leaves the process: those of the environment, of its models so far, and of `Tokens.SecretFilter`. */
export function redactorOf(run: RunInfo): Redactor {
  return run instanceof ActiveRunInfo ? revealParts(run).redactor : createRedactor();
}

/** Adds to what the metrics of a task say, from a tap. */
export function noteTask(run: RunInfo, taskId: string, measures: TaskMeasures): void {
  if (run instanceof ActiveRunInfo) revealParts(run).control?.note(taskId, measures);
}

/** Says under which id a tracing system knows the run, for `traceId` of its trace; the first one said stays. Does nothing for a foreign object. */
export function noteTraceId(run: RunInfo, traceId: string): void {
  if (run instanceof ActiveRunInfo) revealParts(run).control?.noteTraceId(traceId);
}

/**
 * A model call on behalf of a task, from a tap of that task: with hooks, retries, budget, ledger and trace as the task's own calls.
 * @throws what the call throws; ValidationError for what is no running task.
 */
export function chatInTask(
  call: TaskCall,
  request: ChatRequest,
  o: ChatOptions,
): Promise<ChatResponse> {
  const { control } = partsOf(call.run);
  if (control === undefined) throw new ValidationError("The run has ended");
  return control.chat(call, request, o);
}

/** Emits an event in a run, from a tap that knows the run only by its info; a warning is kept too. Does nothing once the run has ended, or for a foreign object. */
export function emitEvent(run: RunInfo, event: NewEvent): void {
  if (run instanceof ActiveRunInfo) revealParts(run).control?.emit(event);
}

/** What the run's tasks have brought so far, as its output would have it: the last of each task, without the reviews of phases and the parts of what is there. */
export function outputsOf(run: RunInfo): readonly TaskOutput[] {
  return partsOf(run).control?.outputs() ?? [];
}

/** What a task of a running run belongs to: a phase, the review of one (its output is a verdict), a loop, the graph. */
export function groupOf({ run, taskId }: TaskCall): PlannedTask["group"] {
  return partsOf(run).control?.group(taskId);
}

/** The settings of a run: its own bindings, the ensemble's options, the container, in this order. @throws ValidationError for what is no running run. */
export function settingsOf(run: RunInfo): RunSettings {
  return partsOf(run).settings;
}
