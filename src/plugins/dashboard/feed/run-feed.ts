import type { EnsembleEvent, Ev, EventStream, EventType } from "../../../contracts/events.js";
import type { Redactor } from "../../../contracts/redaction.js";
import type { LogEntry } from "../../../contracts/run-store.js";
import type { RunOrigin } from "./run-origin.js";
import { messageOf } from "../../../util/errors.js";
import { emitProcessWarning } from "../../../util/process-warning.js";
import { createRedactor } from "../../../util/redaction/redactor.js";
import { longestSecretPhrase } from "./answer-text.js";
import { RunLog } from "./run-log.js";

export interface RunFeedOptions {
  /**
   * The maximum number of runs in memory. The oldest run that has ended is removed first. Default
   * 100.
   */
  readonly maxRuns?: number | undefined;
  /** The maximum number of entries of a run that are kept with their texts. Default 200,000. */
  readonly maxEntries?: number | undefined;
  /**
   * Whether the feed has contents. If `false`, it has only structure, times, token counts and cost.
   * Default true.
   */
  readonly contents?: boolean | undefined;
  /**
   * When models are streamed. `"watched"` (default): while a task is watched. `true`: always.
   * `false`: never.
   */
  readonly tokens?: "watched" | boolean | undefined;
}

/** Callbacks of a listener to a feed. */
export interface FeedListener {
  /** Called when an entry was appended to a log. */
  readonly onEntry?: ((log: RunLog) => void) | undefined;
  /** Called when the model of a task has produced more text. See `RunLog.answerAfter`. */
  readonly onToken?: ((log: RunLog, taskId: string) => void) | undefined;
  /**
   * Called before a call of a model. Subscribed to only while a listener has this callback, because
   * each event has the whole conversation. Not an entry.
   */
  readonly onMessages?: ((log: RunLog, event: Ev<"llm_iteration_started">) => void) | undefined;
  /** Called when a run was removed from memory. */
  readonly onRemoved?: ((log: RunLog) => void) | undefined;
  /** Called when a person has removed a run from memory and from the store. */
  readonly onDeleted?: ((runId: string) => void) | undefined;
  /** Called when the summary of a log has changed without an entry. */
  readonly onMarked?: ((log: RunLog) => void) | undefined;
}

/** All events except those that repeat conversations or grow with each token. */
const ENTRIES: readonly EventType[] = [
  "ensemble_started",
  "ensemble_completed",
  "run_planned",
  "run_resumed",
  "run_suspended",
  "call_in_doubt",
  "run_failed",
  "task_started",
  "task_completed",
  "task_failed",
  "task_input",
  "llm_iteration_completed",
  "reasoning_received",
  "usage_recorded",
  "tool_started",
  "tool_called",
  "guardrail_refused",
  "output_corrected",
  "iteration_limit_reached",
  "delegation_started",
  "delegation_completed",
  "delegation_failed",
  "file_changed",
  "memory_read",
  "memory_written",
  "review_requested",
  "review_resolved",
  "task_reflected",
  "budget_opened",
  "budget_changed",
  "budget_exceeded",
  "retry_scheduled",
  "rate_limited",
  "phase_started",
  "phase_completed",
  "loop_iteration_completed",
  "graph_state_completed",
  "run_warning",
];

/**
 * The logs of the runs of any number of kernels. Stores references to events. An event is encoded
 * only when it is read.
 */
export class RunFeed {
  readonly #o: RunFeedOptions;
  readonly #logs = new Map<string, RunLog>();
  /** The functions that end the subscriptions of each kernel. */
  readonly #kernels = new Map<EventStream, readonly (() => void)[]>();
  /** The functions that end the subscriptions to events with conversations. */
  readonly #messages = new Map<EventStream, () => void>();
  readonly #listeners = new Set<FeedListener>();
  #watchers = 0;
  #readers = 0;
  #longestPhrase: number | undefined;
  /** Redacts runs of other processes. */
  #redactor: Redactor | undefined;
  #warned = false;
  /** The run whose second execution was refused with the last event. */
  #refused: string | undefined;

  constructor(o: RunFeedOptions = {}) {
    this.#o = o;
  }

  /** The runs in memory, the most recently started first. */
  get logs(): readonly RunLog[] {
    return [...this.#logs.values()].reverse();
  }

  get(runId: string): RunLog | undefined {
    return this.#logs.get(runId);
  }

  /** Records the runs of a kernel. Returns a function that ends the recording. */
  attach(events: EventStream): () => void {
    const { tokens = "watched" } = this.#o;
    const stops = [events.on((event, redactor) => this.#take(event, redactor), { only: ENTRIES })];
    if (tokens !== false)
      stops.push(
        events.on((event) => this.#guarded(() => this.#takeToken(event)), {
          only: ["token"],
          tokens: () => tokens === true || this.#watchers > 0,
        }),
      );
    this.#kernels.set(events, stops);
    if (this.#readers > 0) this.#readMessages(events);
    return () => {
      for (const stop of stops) stop();
      this.#kernels.delete(events);
      this.#messages.get(events)?.();
      this.#messages.delete(events);
    };
  }

  /**
   * Adds a listener. The first error that a callback throws is reported as a process warning.
   * Returns a function that removes the listener.
   */
  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener);
    const reads = listener.onMessages !== undefined;
    if (reads && this.#readers++ === 0)
      for (const events of this.#kernels.keys()) this.#readMessages(events);
    return () => {
      if (!this.#listeners.delete(listener) || !reads || --this.#readers > 0) return;
      for (const stop of this.#messages.values()) stop();
      this.#messages.clear();
    };
  }

  /**
   * Registers a viewer of a task, so that models are streamed. Returns a function that removes the
   * viewer.
   */
  watch(): () => void {
    this.#watchers++;
    let isOver = false;
    return () => {
      if (!isOver) this.#watchers--;
      isOver = true;
    };
  }

  /** Appends a `run_warning` to the log of a run. `at` is an ISO instant. */
  warn(runId: string, message: string, at: string): void {
    const log = this.#logs.get(runId);
    if (log === undefined) return;
    this.#guarded(() =>
      this.#append(log, { type: "run_warning", v: 1, seq: -1, runId, at, message }),
    );
  }

  /** Removes a run that has ended. Returns false for a run that is unknown or has not ended. */
  remove(runId: string): boolean {
    const log = this.#logs.get(runId);
    if (log?.ended !== true) return false;
    this.#logs.delete(runId);
    this.#tell((listener) => listener.onRemoved?.(log));
    return true;
  }

  /** Removes a run and all its data. A run of this process must have ended. */
  delete(runId: string): void {
    this.remove(runId);
    this.#tell((listener) => listener.onDeleted?.(runId));
  }

  /**
   * Marks a run as the baseline of its ensemble, or removes the mark. A marked run stays in memory.
   */
  markBaseline(runId: string, isBaseline: boolean): void {
    const log = this.#logs.get(runId);
    if (log === undefined || log.isBaseline === isBaseline) return;
    log.isBaseline = isBaseline;
    this.marked(log);
  }

  #take(event: EnsembleEvent, redactor: Redactor): void {
    try {
      if (this.#isRefusal(event)) return;
      let log = this.#logs.get(event.runId);
      if (event.type === "ensemble_started") log = this.#begun(event.runId, redactor, log);
      if (log !== undefined) this.#append(log, event);
    } catch (e) {
      this.#failed(e);
    }
  }

  /**
   * Returns whether an event belongs to a second execution of a run, which was refused. The first
   * execution continues.
   */
  #isRefusal(event: EnsembleEvent): boolean {
    const { type, runId } = event;
    // This event follows the refusal at once.
    const wasRefused = this.#refused === runId && type === "ensemble_completed";
    this.#refused = type === "run_failed" && event.code === "AE_RUN_IN_USE" ? runId : undefined;
    return wasRefused || this.#refused !== undefined;
  }

  /**
   * Returns the log of a run of another process. Replaces a run of the same id from another origin.
   */
  logFrom(runId: string, origin: RunOrigin): RunLog {
    const known = this.#logs.get(runId);
    if (known?.origin === origin) return known;
    if (known !== undefined) this.discard(known);
    this.#redactor ??= createRedactor();
    return this.#begun(runId, this.#redactor, undefined, origin);
  }

  /**
   * Adds an entry of another process, which has the next number of its log.
   * @throws an error for an entry that can't be shown
   */
  receive(log: RunLog, entry: LogEntry): void {
    const ofRun = "ensembleId" in entry ? { ensembleId: log.runId } : {};
    // The entry has the type that it names.
    const event = { ...entry, v: 1, seq: -1, runId: log.runId, ...ofRun } as unknown;
    log.append(event as EnsembleEvent);
    log.check();
    this.#tell((listener) => listener.onEntry?.(log));
  }

  /** Adds a piece of an answer that another process streams. */
  receivePiece(log: RunLog, taskId: string, text: string): void {
    if (this.#o.contents === false) return;
    log.addToken(taskId, text);
    this.#tell((listener) => listener.onToken?.(log, taskId));
  }

  /** Removes a run from memory, even if it has not ended. */
  discard(log: RunLog): void {
    if (this.#logs.get(log.runId) !== log) return;
    this.#logs.delete(log.runId);
    this.#tell((listener) => listener.onRemoved?.(log));
  }

  /** Called when the summary of a log has changed without an entry. */
  marked(log: RunLog): void {
    this.#tell((listener) => listener.onMarked?.(log));
  }

  #append(log: RunLog, event: EnsembleEvent): void {
    log.append(event);
    if (this.#listeners.size > 0) this.#tell((listener) => listener.onEntry?.(log));
  }

  /** Returns the log of a run that starts or is resumed. It becomes the newest log. */
  #begun(runId: string, redactor: Redactor, known: RunLog | undefined, origin?: RunOrigin): RunLog {
    const { contents = true, maxEntries = 200_000, maxRuns = 100 } = this.#o;
    this.#longestPhrase ??= longestSecretPhrase();
    const longestPhrase = this.#longestPhrase;
    const o = { redactor, contents, maxEntries, longestPhrase, origin };
    const log = known ?? new RunLog(runId, o);
    this.#logs.delete(runId);
    this.#logs.set(runId, log);
    let over = this.#logs.size - maxRuns;
    for (const old of this.#logs.values()) {
      if (over <= 0) break;
      if (old !== log && !old.isBaseline && this.remove(old.runId)) over--;
    }
    return log;
  }

  #takeToken(event: EnsembleEvent): void {
    if (event.type !== "token" || this.#o.contents === false) return;
    const log = this.#logs.get(event.runId);
    if (log === undefined) return;
    log.addToken(event.taskId, event.token);
    this.#tell((listener) => listener.onToken?.(log, event.taskId));
  }

  #readMessages(events: EventStream): void {
    const take = (event: EnsembleEvent): void => this.#guarded(() => this.#takeMessages(event));
    this.#messages.set(events, events.on(take, { only: ["llm_iteration_started"] }));
  }

  #takeMessages(event: EnsembleEvent): void {
    const log = this.#logs.get(event.runId);
    if (event.type === "llm_iteration_started" && log !== undefined)
      this.#tell((listener) => listener.onMessages?.(log, event));
  }

  #tell(tell: (listener: FeedListener) => void): void {
    for (const listener of this.#listeners) this.#guarded(() => tell(listener));
  }

  /** Executes `work`. An error in the feed does not affect the run. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (e) {
      this.#failed(e);
    }
  }

  #failed(e: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    emitProcessWarning(`dashboard: an event was not taken in: ${messageOf(e)}`);
  }
}
