import type { AgentEnsembleError } from "../../contracts/errors.js";
import type { MemoryEntry } from "../../contracts/memory.js";
import type {
  After,
  Answer,
  DelegationCall,
  LlmCall,
  MemoryWrite,
  TaskCall,
  ToolCallContext,
} from "../../contracts/hooks.js";
import type { TaskOutput } from "../../contracts/output.js";
import type { OutsideAccess, OutsideCall } from "../../contracts/outside.js";
import type { HookRun } from "../../contracts/run.js";
import type { RecordedValue, Recording } from "./recording.js";
import type { StepEvent } from "./step-order.js";
import { answer } from "../../contracts/hooks.js";
import { missingStep, neverEnded, unknownOutside } from "./mismatch.js";
import { StepNames } from "./step-names.js";
import { StepOrder } from "./step-order.js";
import { restoreError } from "../shared/stored-error.js";
import { sleep } from "../../util/abort/timeouts.js";

/** Milliseconds for which a call waits after the recorded time of its cancellation. */
export const PATIENCE_MS = 1_000;

type Gate = void | Promise<void>;

/** The functions of a replay for its steps. */
export interface ReplayContext {
  recording(): Recording;
  readonly exporters: boolean;
  /** Advances the time to an instant of the recorded run. */
  advance(runId: string, ms: number): void;
  /** Ends a run with the error, unless it may continue live. */
  missed(run: HookRun, error: () => AgentEnsembleError): "live";
}

/** A run in progress. */
interface PlayedRun {
  readonly run: HookRun;
  readonly names: StepNames;
  readonly order: StepOrder;
}

/**
 * Executes the steps of replayed runs in the recorded order, and answers their external queries.
 */
export class ReplaySteps implements OutsideAccess {
  readonly #runs = new Map<string, PlayedRun>();

  constructor(readonly context: ReplayContext) {}

  begin(run: HookRun): void {
    const recording = this.context.recording();
    const id = recording.runOf(run.id)?.id ?? run.id;
    const outer = run.parent === undefined ? undefined : this.#runs.get(run.parent.id);
    const order = outer?.order ?? this.#orderOf(run, id);
    this.#runs.set(run.id, { run, names: new StepNames(id), order });
  }

  end({ id, parent }: HookRun): void {
    const played = this.#runs.get(id);
    this.#runs.delete(id);
    if (played !== undefined && (parent === undefined || !this.#runs.has(parent.id)))
      played.order.open();
  }

  /** Continues a run without its recording. Its steps no longer wait. */
  goLive(runId: string): void {
    const played = this.#runs.get(runId);
    this.#runs.delete(runId);
    played?.order.open();
  }

  /** Fails the waiting steps of a run that differs from its recording. */
  giveUp(runId: string, mismatch: Error): void {
    this.#runs.get(runId)?.order.open(mismatch);
  }

  taskStarts(call: TaskCall): Gate {
    const { names, order } = this.#runs.get(call.run.id) ?? {};
    const before = names?.task(call.taskId);
    if (before !== undefined) order?.leave(before); // an attempt that was refused
    const name = names?.taskStarts(call);
    return name && order?.start(name, call.signal);
  }

  /** Handles a task without an output, or with an output that was refused in the recording. */
  taskEnds(call: After<TaskCall, "output", TaskOutput>): Gate {
    const { run, taskId, outcome, signal } = call;
    if (outcome !== "ok") return this.#taskEnds(run, taskId, signal, false);
    const { names, order } = this.#runs.get(run.id) ?? {};
    const key = names?.task(taskId);
    if (names === undefined || key === undefined) return undefined;
    if (this.context.recording().committed.has(key)) return undefined;
    return order?.before(names.nextAttempt(call), key, signal);
  }

  taskAccepted({ run, taskId, signal }: TaskCall): Gate {
    return this.#taskEnds(run, taskId, signal, true);
  }

  /** Called when a task has ended in any way. */
  taskLeft(runId: string, taskId: string): void {
    const { names, order } = this.#runs.get(runId) ?? {};
    const key = names?.task(taskId);
    if (key !== undefined) order?.leave(key);
  }

  /** Returns the key of a call that starts when `ready` resolves, for {@link ends}. */
  callStarts(call: LlmCall): { readonly key?: string | undefined; readonly ready: Gate } {
    const { names, order } = this.#runs.get(call.run.id) ?? {};
    const name = names?.call(call);
    if (name === undefined) return { ready: undefined };
    return { key: name.key, ready: order?.start(name, call.signal) };
  }

  toolStarts(call: ToolCallContext): Gate {
    const { names, order } = this.#runs.get(call.run.id) ?? {};
    const name = names?.tool(call);
    return name && order?.start(name, call.signal);
  }

  toolKey(call: ToolCallContext): string | undefined {
    return this.#runs.get(call.run.id)?.names.tool(call).key;
  }

  /** Skips the steps that the tool took, because the recorded result answers its call. */
  toolAnswered(call: ToolCallContext): void {
    const { names, order } = this.#runs.get(call.run.id) ?? {};
    if (names === undefined || order === undefined) return;
    const { key } = names.tool(call);
    const { skipped } = this.context.recording();
    for (const step of order.skipWithin(key, (event) => names.isStepOf(call, event)))
      skipped.add(step);
  }

  delegationStarts(call: DelegationCall): Gate {
    const { names, order } = this.#runs.get(call.run.id) ?? {};
    const name = names?.delegation(call);
    return name && order?.start(name);
  }

  delegationEnds(call: DelegationCall): Gate {
    const { names } = this.#runs.get(call.run.id) ?? {};
    return this.ends(call.run.id, names?.delegation(call).key);
  }

  /**
   * Called when a model call, a tool call or a delegation ends. Only the first call per step
   * counts.
   */
  ends(runId: string, key: string | undefined, signal?: AbortSignal): Gate {
    return key === undefined ? undefined : this.#runs.get(runId)?.order.end(key, signal);
  }

  /**
   * Writes nothing, because the recording answers reads.
   * @throws the recorded error of the store.
   */
  async write(call: MemoryWrite): Promise<Answer<MemoryEntry> | undefined> {
    const played = this.#played(call.run.id);
    if (played === undefined) return undefined;
    const { names, order } = played;
    const name = names.write(call);
    const { key } = name;
    await order.start(name);
    await order.end(key);
    if (!this.#runs.has(call.run.id)) return undefined;
    const { error } = this.context.recording().values.get(key) ?? {};
    if (error !== undefined) throw restoreError(error);
    return answer(call.entry);
  }

  decidesReviews({ id }: Pick<HookRun, "id">): boolean {
    return this.#played(id) !== undefined;
  }

  async access<T>(call: OutsideCall<T>, work: () => Promise<T>): Promise<T> {
    // the result of an export is not used
    if (call.kind === "export") return this.context.exporters ? work() : (undefined as T);
    const played = this.#played(call.run.id);
    if (played === undefined) return work();
    const { names, order, run } = played;
    const name = names.outside(call);
    const { key } = name;
    await order.start(name, call.signal);
    call.signal?.throwIfAborted();
    const recorded = this.context.recording().values.get(key);
    if (recorded === undefined && this.#runs.has(run.id) && call.kind !== "change")
      this.context.missed(run, () => unknownOutside(this.context.recording(), call));
    if (call.kind === "review" && recorded !== undefined)
      await this.#calledOff(run, recorded, call);
    await order.end(key, call.signal);
    call.signal?.throwIfAborted();
    if (!this.#runs.has(run.id)) return work(); // live
    return valueOf(recorded ?? {}, call);
  }

  /** Waits for the end of this run if the recorded run ended during a question to a person. */
  async #calledOff(
    run: HookRun,
    { value, error }: RecordedValue,
    { name, taskId, signal }: OutsideCall,
  ): Promise<void> {
    if (value !== undefined || error !== undefined) return;
    await sleep(PATIENCE_MS, signal);
    const what = `The review '${name}'${taskId === undefined ? "" : ` of task '${taskId}'`}`;
    this.context.missed(run, () => neverEnded(this.context.recording(), what));
  }

  #taskEnds(run: HookRun, taskId: string, signal: AbortSignal, isAccepted: boolean): Gate {
    const key = this.#runs.get(run.id)?.names.task(taskId);
    if (key === undefined || this.context.recording().committed.has(key) !== isAccepted)
      return undefined;
    return this.ends(run.id, key, signal);
  }

  /** Returns a run whose recording has the external data. */
  #played(runId: string): PlayedRun | undefined {
    return this.context.recording().isOrdered ? this.#runs.get(runId) : undefined;
  }

  #orderOf(run: HookRun, id: string): StepOrder {
    const { context } = this;
    return new StepOrder(context.recording().eventsOf(id), {
      advance: (ms) => context.advance(run.id, ms),
      missing: (event) => this.#missing(run, event),
    });
  }

  #missing(run: HookRun, event: StepEvent): Error | undefined {
    try {
      this.context.missed(run, () => missingStep(this.context.recording(), event));
      return undefined;
    } catch (error) {
      return error as Error; // a RecordingMismatchError
    }
  }
}

/** @throws the recorded error. */
function valueOf<T>({ value, error }: RecordedValue, { codec }: OutsideCall<T>): T {
  if (error !== undefined) throw restoreError(error);
  // the value has the recorded form
  return codec === undefined || value === undefined ? (value as T) : codec.fromJson(value);
}
