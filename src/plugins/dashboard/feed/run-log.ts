import type { EnsembleEvent } from "../../../contracts/events.js";
import type { Redactor } from "../../../contracts/redaction.js";
import type { LogEntry, RunSummary } from "../../../contracts/run-store.js";
import type { Bar, RunSnapshot, TaskState } from "../protocol/state-types.js";
import { createRunState, type NumberedReducer } from "../protocol/run-state.js";
import { AnswerText } from "./answer-text.js";
import { entryEncoder, type EntryEncoder } from "./encoding.js";
import { keptEvent } from "./kept-event.js";
import { originSummary, type RunOrigin } from "./run-origin.js";

/** The position of a reader in the answer of the model of a task. */
export interface AnswerPlace {
  readonly answer: number;
  readonly length: number;
}

export interface RunLogOptions {
  readonly redactor: Redactor;
  readonly contents: boolean;
  /**
   * Maximum number of entries with texts. Beyond it, the texts of the oldest entries are removed.
   */
  readonly maxEntries: number;
  /** See `longestSecretPhrase`. */
  readonly longestPhrase: number;
  /** The origin of a run of another process. */
  readonly origin?: RunOrigin | undefined;
}

/**
 * The log of one run in memory. It has references to the events of the run, and the resulting
 * state. Entries are redacted and encoded on their first read. All readers share the texts.
 */
export class RunLog {
  readonly runId: string;
  /** Whether later runs of the ensemble are compared with this run. */
  isBaseline = false;
  readonly #events: EnsembleEvent[] = [];
  readonly #reducer: NumberedReducer;
  /** The number of entries that the state includes. */
  #reduced = 0;
  readonly #encoder: EntryEncoder;
  readonly #o: RunLogOptions;
  readonly #slim = new Map<number, string>();
  readonly #full = new Map<number, string>();
  readonly #answers = new Map<string, AnswerText>();
  #answered = 0;
  /** Entries before this number have no texts. */
  #trimmed = 0;
  #ended = false;
  #snapshot: { readonly n: number; readonly text: string } | undefined;

  constructor(runId: string, o: RunLogOptions) {
    this.runId = runId;
    this.#o = o;
    this.#encoder = entryEncoder(o.redactor, o.contents);
    this.#reducer = createRunState({
      shown: this.#encoder.shown,
      maxBarTasks: Number.POSITIVE_INFINITY,
    });
  }

  /** The number of the last entry. -1 before the first entry. */
  get n(): number {
    return this.#events.length - 1;
  }

  /** Whether the run has ended or is suspended. */
  get ended(): boolean {
    return this.#ended || this.origin?.isLost === true;
  }

  /** The origin of the run. `undefined` for a run of this process. */
  get origin(): RunOrigin | undefined {
    return this.#o.origin;
  }

  /** The number of encoded entries. */
  get encoded(): number {
    return this.#slim.size + this.#full.size;
  }

  get summary(): RunSummary {
    const { summary: own } = this.#state.view;
    const summary = this.origin === undefined ? own : originSummary(this.origin, own);
    return this.isBaseline ? { ...summary, baseline: true } : summary;
  }

  /** The number of tasks so far. */
  get tasks(): number {
    return this.#state.view.tasks.size;
  }

  snapshot(): RunSnapshot {
    return this.#state.snapshot();
  }

  /** The snapshot as JSON, encoded once for all readers between two entries. */
  snapshotText(): string {
    if (this.#snapshot?.n !== this.n)
      this.#snapshot = { n: this.n, text: JSON.stringify(this.snapshot()) };
    return this.#snapshot.text;
  }

  /**
   * Returns the JSON of an entry. Views of the run use the slim form. Views of a task and stores
   * use the full form.
   */
  text(n: number, form: "slim" | "full"): string {
    const texts = form === "slim" ? this.#slim : this.#full;
    let text = texts.get(n);
    if (text === undefined) {
      text = JSON.stringify(this.entry(n, form));
      texts.set(n, text);
    }
    return text;
  }

  /**
   * Returns an entry as data. Trimmed entries have no texts, and `trimmed` is true.
   * @throws RangeError for a number that the log does not have.
   */
  entry(n: number, form: "slim" | "full"): LogEntry {
    const event = this.#events[n];
    if (event === undefined) throw new RangeError(`Run '${this.runId}' has no entry ${n}`);
    if (form === "slim") return this.#encoder.slim(n, event);
    if (n >= this.#trimmed) return this.#encoder.full(n, event);
    return { ...this.#encoder.slim(n, event), trimmed: true };
  }

  /**
   * Returns an event that is not an entry of the log, as redacted data. It has the number of the
   * last entry.
   */
  passed(event: EnsembleEvent): LogEntry {
    return this.#encoder.full(this.n, event);
  }

  /**
   * Returns the role and the description of a task in their shown form. Returns `undefined` for a
   * task that has not begun and is not in the plan.
   */
  named(
    taskId: string,
  ): { readonly agentRole: string; readonly taskDescription: string } | undefined {
    const task = this.#state.view.tasks.get(taskId);
    const { shown } = this.#encoder;
    return (
      task && { agentRole: shown.name(task.role), taskDescription: shown.text(task.description) }
    );
  }

  /** Returns the task of an entry. Returns `undefined` for an entry without a task. */
  taskOf(n: number): string | undefined {
    // Most types have this field.
    return (this.#events[n] as { readonly taskId?: string } | undefined)?.taskId;
  }

  /** Returns the numbers of the entries of a task, in order. */
  numbersOf(taskId: string): readonly number[] {
    return this.#events.flatMap((_, n) => (this.taskOf(n) === taskId ? [n] : []));
  }

  /** Returns the tasks in a range with their bars, in the order of the tasks of the snapshot. */
  bars(
    from: number,
    to: number,
  ): readonly { readonly taskId: string; readonly bars: readonly Bar[] }[] {
    const tasks: TaskState[] = [...this.#state.view.tasks.values()];
    const { shown } = this.#encoder;
    return tasks.slice(from, to).map(({ id, bars }) => ({ taskId: shown.name(id), bars }));
  }

  /**
   * Returns the part of the answer of a task that a reader does not have, as a `token` entry.
   * Returns `undefined` if there is none. The entry has the number of the last entry, because parts
   * of answers are not entries.
   */
  answerAfter(
    taskId: string,
    place: AnswerPlace | undefined,
    now: string,
  ): { readonly entry: LogEntry; readonly place: AnswerPlace } | undefined {
    const answer = this.#answers.get(taskId);
    const text = answer?.shown(this.#encoder.text) ?? "";
    const had = place?.answer === answer?.answer ? (place?.length ?? 0) : 0;
    if (answer === undefined || text.length <= had) return undefined;
    const begins = had === 0 ? { begins: true } : {};
    return {
      entry: {
        n: this.n,
        at: now,
        type: "token",
        taskId,
        token: text.slice(had),
        sentAt: now,
        ...begins,
      },
      place: { answer: answer.answer, length: text.length },
    };
  }

  /** Adds a piece of an answer. */
  addToken(taskId: string, token: string): void {
    let answer = this.#answers.get(taskId);
    if (answer === undefined) {
      answer = new AnswerText(this.#answered++, this.#o.longestPhrase);
      this.#answers.set(taskId, answer);
    }
    answer.add(token);
  }

  /** Checks that the last entry can be shown. @throws an error if it can't */
  check(): void {
    void this.#state;
    this.entry(this.n, "slim");
  }

  /** Adds an event at the end. */
  append(event: EnsembleEvent): void {
    this.#events.push(keptEvent(event));
    switch (event.type) {
      case "ensemble_started":
        this.#ended = false;
        break;
      case "ensemble_completed":
        this.#ended = true;
        this.#answers.clear();
        break;
      case "llm_iteration_completed":
      case "task_completed":
      case "task_failed":
      case "usage_recorded":
        if (this.#answers.size > 0) this.#answers.delete(event.taskId);
    }
    if (this.#events.length - this.#trimmed > this.#o.maxEntries) this.trim(this.#trimmed + 1);
  }

  /**
   * The state after the last entry. Entries are applied when the state is read, so that a run
   * without a reader costs less.
   */
  get #state(): NumberedReducer {
    while (this.#reduced < this.#events.length) {
      const n = this.#reduced++; // an entry that can't be applied is not applied again
      const event = this.#events[n];
      if (event !== undefined) this.#reducer.applyAt(n, event);
    }
    return this.#reducer;
  }

  /** Removes the texts of the entries before a number. */
  trim(before: number): void {
    if (this.#reduced < before) void this.#state; // the state needs the texts
    for (; this.#trimmed < Math.min(before, this.#events.length); this.#trimmed++) {
      const event = this.#events[this.#trimmed];
      this.#full.delete(this.#trimmed);
      if (event !== undefined)
        // Only its type is read.
        this.#events[this.#trimmed] = this.#encoder.slim(this.#trimmed, event) as never;
    }
  }
}
