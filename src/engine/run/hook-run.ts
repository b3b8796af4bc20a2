import type { Agent } from "../../contracts/agent.js";
import type { ChatModel, ChatRequest, ChatResponse, ModelRef } from "../../contracts/chat-model.js";
import type { EnsembleOptions } from "../../contracts/ensemble-options.js";
import type { EnsembleEvent, NewEvent } from "../../contracts/events.js";
import type { TaskCall } from "../../contracts/hooks.js";
import type { MemoryEntry } from "../../contracts/memory.js";
import type { TaskOutput } from "../../contracts/output.js";
import type { ChatOptions, HookRun, MemoryTarget, TaskMetricsUpdate } from "../../contracts/run.js";
import type { CallingTask, RunInfo } from "../../contracts/run-info.js";
import type { AnyTask } from "../../contracts/task.js";
import type { Token } from "../../contracts/token.js";
import type { ReviewRecord } from "../../contracts/trace.js";
import type { Inputs } from "../../contracts/types.js";
import type { SavedUsage, SpentUsage, UsageRecord } from "../../contracts/usage.js";
import type { Settings } from "../plan/settings.js";
import type { ActiveRun, ActiveRunParts } from "./active-run.js";
import { AgentEnsembleError, ValidationError } from "../../contracts/errors.js";
import { Tokens } from "../../contracts/tokens.js";
import { preview } from "../../contracts/validation.js";
import { Cancellation } from "../../util/abort/cancellation.js";
import { TaskFrame } from "../tasks/task-frame.js";
import { ActiveTaskScope } from "../tasks/task-scope.js";
import { addSpent } from "../usage/elsewhere.js";
import { Ledger } from "../usage/ledger.js";
import { RunRedactor } from "./run-redactor.js";
import { toError } from "../../util/errors.js";

const NO_OUTPUTS: readonly TaskOutput[] = Object.freeze([]);
const NO_USAGE: readonly UsageRecord[] = Object.freeze([]);

/** The parts that a run shares with a run that joins it. */
export interface JoinedRun {
  readonly run: HookRun;
  readonly caller: UsageRecord["caller"];
  readonly ledger: Ledger;
  readonly cancellation: Cancellation<AgentEnsembleError>;
  readonly priority: ActiveRunParts["priority"];
  readonly redactor: RunRedactor;
  readonly values: ReadonlyMap<unknown, unknown>;
}

type HookRunParts = Pick<
  ActiveRunParts,
  | ("id" | "inputs" | "tags" | "parent" | "base")
  | ("settings" | "redactor" | "ledger" | "cancellation" | "priority")
>;

/** A run for taps. Outputs keep this object. It therefore releases the run at the run's end. */
export class ActiveHookRun implements HookRun {
  readonly id: string;
  readonly inputs: Inputs;
  readonly tags: Readonly<Record<string, string>>;
  readonly parent: HookRun | undefined;
  readonly startedAt: Date;
  readonly options: EnsembleOptions;
  readonly #settings: Settings;
  readonly #redactor: RunRedactor;
  readonly #ledger: Ledger;
  readonly #cancellation: Cancellation<AgentEnsembleError>;
  readonly #priority: ActiveRunParts["priority"];
  #untrustedSource: string | undefined;
  /** Set while the run is in progress. */
  #run: ActiveRun | undefined;

  constructor(parts: HookRunParts, run?: ActiveRun) {
    this.id = parts.id;
    this.inputs = parts.inputs;
    this.tags = parts.tags;
    this.parent = parts.parent;
    this.startedAt = parts.base.startedAt;
    this.options = parts.settings.options;
    this.#settings = parts.settings;
    this.#redactor = parts.redactor;
    this.#ledger = parts.ledger;
    this.#cancellation = parts.cancellation;
    this.#priority = parts.priority;
    this.#run = run;
    Object.freeze(this);
  }

  /** Returns an ended run for taps. Only lookups work. */
  static idle(info: Pick<RunInfo, "id" | "inputs" | "tags">, settings: Settings): HookRun {
    return new ActiveHookRun({
      id: info.id,
      inputs: info.inputs,
      tags: info.tags,
      parent: undefined,
      base: { startedAt: settings.get(Tokens.Clock).now(), startedMs: 0 },
      settings,
      redactor: new RunRedactor(settings, []),
      ledger: new Ledger(undefined),
      cancellation: new Cancellation<AgentEnsembleError>(),
      priority: "NORMAL",
    });
  }

  /** @throws ValidationError unless `given` is or has the `run` of a hook call, task or scope. */
  static toJoin(given: RunInfo | CallingTask): JoinedRun {
    const [parent, taskId] = "taskId" in given ? [given.run, given.taskId] : [given, undefined];
    if (parent instanceof ActiveHookRun)
      return {
        run: parent,
        caller: taskId === undefined ? undefined : { runId: parent.id, taskId },
        ledger: parent.#ledger,
        cancellation: parent.#cancellation,
        priority: parent.#priority,
        redactor: parent.#redactor,
        values: parent.#settings.given,
      };
    throw new ValidationError(
      "Not a running run: pass the context, or the `run` of the task context or hook call, as it is",
    );
  }

  /** Releases a run that has ended. Outputs keep `run`. */
  static detach(run: HookRun): void {
    if (run instanceof ActiveHookRun) run.#run = undefined;
  }

  get<T>(token: Token<T>): T {
    return this.#settings.get(token);
  }
  find<T>(token: Token<T>): T | undefined {
    return this.#settings.find(token);
  }
  all<T>(token: Token<T, "many">): readonly T[] {
    return this.#settings.all(token);
  }
  modelFor(task: AnyTask, agent: Agent | undefined): ChatModel | undefined {
    return this.#settings.model(task, agent);
  }
  resolveModel(ref: ModelRef): ChatModel {
    return this.#settings.resolve(ref);
  }
  listens(type: EnsembleEvent["type"]): boolean {
    return this.#run?.events.listens(type) === true;
  }
  emit(e: NewEvent): void {
    this.#run?.emit(e);
  }
  warn(message: string): void {
    this.#run?.warn(message);
  }
  stop(reason: AgentEnsembleError): void {
    this.#run?.stop(checkedReason(reason));
  }
  cancel(reason: AgentEnsembleError): void {
    this.#run?.cancellation.cancel(checkedReason(reason));
  }
  spent(usage: readonly SpentUsage[]): void {
    if (this.#run !== undefined) addSpent(this.#run, usage);
  }
  get earlierUsage(): readonly UsageRecord[] {
    return this.#run?.earlierUsage ?? NO_USAGE;
  }
  noteUntrusted(source: string): void {
    this.#untrustedSource ??= source;
    this.parent?.noteUntrusted(source);
  }
  get untrustedSource(): string | undefined {
    return this.#untrustedSource ?? this.parent?.untrustedSource;
  }
  outputs(): readonly TaskOutput[] {
    return this.#run?.completed() ?? NO_OUTPUTS;
  }
  recordMetrics(taskId: string, measures: TaskMetricsUpdate): void {
    this.#run?.recordMetrics(taskId, measures);
  }
  recordReview(review: ReviewRecord): void {
    this.#run?.reviews.push(review);
  }
  redact(text: string): string {
    return this.#redactor.redactText(text);
  }
  redactValue(value: unknown): unknown {
    return this.#redactor.redactValue(value);
  }
  format(value: unknown, text: string): string {
    return this.#run?.format(value, text) ?? text;
  }
  noteSaved(saved: SavedUsage): void {
    if (this.#run !== undefined) this.#run.saved = saved;
  }
  setTraceId(traceId: string): void {
    if (this.#run !== undefined) this.#run.traceId ??= traceId;
  }
  chat(call: TaskCall, request: ChatRequest, options: ChatOptions): Promise<ChatResponse> {
    return this.#onBehalfOf(call, (scope) => scope.chat(request, options));
  }
  writeMemory(
    call: TaskCall,
    scope: string,
    entry: MemoryEntry,
    target?: MemoryTarget,
  ): Promise<void> {
    return this.#onBehalfOf(call, (task) => task.writeMemory(scope, entry, target));
  }

  #onBehalfOf<T>(call: TaskCall, work: (scope: ActiveTaskScope) => Promise<T>): Promise<T> {
    try {
      return work(this.#scopeOf(call));
    } catch (error) {
      return Promise.reject(toError(error));
    }
  }

  /** Returns the scope of a running task. Its calls continue the task's call numbers. */
  #scopeOf({ taskId, identity, signal }: TaskCall): ActiveTaskScope {
    const run = this.#run;
    if (run === undefined) throw new ValidationError("The run has ended");
    const record = run.records.findLast((r) => r.taskId === taskId);
    if (record === undefined) throw new ValidationError(`Task '${taskId}' has not begun`);
    const frame = new TaskFrame(run, record, run.cancellationFor(signal), { identity });
    frame.modelCalls = (record.lastCall?.iteration ?? -1) + 1;
    return new ActiveTaskScope(frame);
  }
}

/** @throws ValidationError unless the reason is an AgentEnsembleError: callers need its code. */
function checkedReason(reason: AgentEnsembleError): AgentEnsembleError {
  if (AgentEnsembleError.isInstance(reason)) return reason;
  throw new ValidationError(`A run ends with an AgentEnsembleError only, got: ${preview(reason)}`);
}
