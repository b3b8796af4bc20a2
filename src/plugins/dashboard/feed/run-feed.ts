import type { EnsembleEvent, Ev, EventStream, EventType } from "../../../contracts/events.js";
import type { Redactor } from "../../../contracts/redaction.js";
import { messageOf } from "../../../util/errors.js";
import { emitProcessWarning } from "../../../util/process-warning.js";
import { longestSecretPhrase } from "./answer-text.js";
import { RunLog } from "./run-log.js";

export interface RunFeedOptions {
  /** Runs in memory; those that ended first go first. Default 100. */
  readonly maxRuns?: number | undefined;
  /** Entries of a run with their texts. Default 200,000. */
  readonly maxEntries?: number | undefined;
  /** `false`: only structure, times, tokens and cost leave the run. Default true. */
  readonly contents?: boolean | undefined;
  /** Whether models are streamed: while a task is watched (default), always, or never. */
  readonly tokens?: "watched" | boolean | undefined;
}

/** What is told to those who listen to a feed. */
export interface FeedListener {
  /** A log has one entry more. */
  readonly onEntry?: ((log: RunLog) => void) | undefined;
  /** The model of a task has written more; see `RunLog.answerAfter`. */
  readonly onToken?: ((log: RunLog, taskId: string) => void) | undefined;
  /** A model is about to be called. Asked for by few, because each event has the whole conversation; it is no entry. */
  readonly onMessages?: ((log: RunLog, event: Ev<"llm_iteration_started">) => void) | undefined;
  /** A run is no longer in memory. */
  readonly onRemoved?: ((log: RunLog) => void) | undefined;
}

/** All events but those that repeat conversations and grow with each token. */
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

/** The runs of any number of kernels, as they go on. Takes references to events, and makes nothing of them until somebody reads. */
export class RunFeed {
  readonly #o: RunFeedOptions;
  readonly #logs = new Map<string, RunLog>();
  /** What ends the subscriptions of each kernel. */
  readonly #kernels = new Map<EventStream, readonly (() => void)[]>();
  /** What ends those to the events with conversations. */
  readonly #messages = new Map<EventStream, () => void>();
  readonly #listeners = new Set<FeedListener>();
  #watchers = 0;
  #readers = 0;
  #longestPhrase: number | undefined;
  #warned = false;

  constructor(o: RunFeedOptions = {}) {
    this.#o = o;
  }

  /** The runs in memory, those that began last first. */
  get logs(): readonly RunLog[] {
    return [...this.#logs.values()].reverse();
  }

  get(runId: string): RunLog | undefined {
    return this.#logs.get(runId);
  }

  /** Takes in the runs of a kernel. Call what it returns to stop. */
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

  /** Calls the methods of a listener. What they throw becomes one warning of the process. Call what it returns to stop. */
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

  /** Says that somebody looks at a task, so that models are streamed. Call what it returns once nobody does. */
  watch(): () => void {
    this.#watchers++;
    let isOver = false;
    return () => {
      if (!isOver) this.#watchers--;
      isOver = true;
    };
  }

  /** Adds a warning to a run's log, as the kernel does. `at`: an ISO instant. */
  warn(runId: string, message: string, at: string): void {
    const log = this.#logs.get(runId);
    if (log === undefined) return;
    this.#guarded(() =>
      this.#append(log, { type: "run_warning", v: 1, seq: -1, runId, at, message }),
    );
  }

  /** Drops a run that has ended. Returns false for one that goes on or is not known. */
  remove(runId: string): boolean {
    const log = this.#logs.get(runId);
    if (log?.ended !== true) return false;
    this.#logs.delete(runId);
    this.#tell((listener) => listener.onRemoved?.(log));
    return true;
  }

  #take(event: EnsembleEvent, redactor: Redactor): void {
    try {
      let log = this.#logs.get(event.runId);
      if (event.type === "ensemble_started") log = this.#begun(event.runId, redactor, log);
      if (log !== undefined) this.#append(log, event);
    } catch (e) {
      this.#failed(e);
    }
  }

  #append(log: RunLog, event: EnsembleEvent): void {
    log.append(event);
    if (this.#listeners.size > 0) this.#tell((listener) => listener.onEntry?.(log));
  }

  /** The log of a run that begins, or goes on; it is the newest from now on. */
  #begun(runId: string, redactor: Redactor, known: RunLog | undefined): RunLog {
    const { contents = true, maxEntries = 200_000, maxRuns = 100 } = this.#o;
    this.#longestPhrase ??= longestSecretPhrase();
    const longestPhrase = this.#longestPhrase;
    const log = known ?? new RunLog(runId, { redactor, contents, maxEntries, longestPhrase });
    this.#logs.delete(runId);
    this.#logs.set(runId, log);
    let over = this.#logs.size - maxRuns;
    for (const old of this.#logs.values()) {
      if (over <= 0) break;
      if (old !== log && this.remove(old.runId)) over--;
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

  /** A run never notices what goes wrong here. */
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
