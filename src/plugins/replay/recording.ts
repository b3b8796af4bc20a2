import type { ChatMessage, ChatRequest } from "../../contracts/chat-model.js";
import type { CallPlace, CallResult, StepTimes, ToolLine } from "./recording-format.js";
import type { StepEvent } from "./step-order.js";
import type { StoredError } from "../shared/stored-error.js";

/** A model call that can be replayed. */
export interface RecordedCall extends CallPlace, CallResult {
  /** The key of the step. Recordings of the first version and traces have none. */
  readonly step?: string | undefined;
  readonly keys: readonly string[];
  /** The part of the request that the recording contains. */
  readonly request: Omit<ChatRequest, "messages"> | undefined;
  readonly messages: readonly ChatMessage[] | undefined;
  /** Milliseconds from the start of the run. */
  readonly endMs: number;
  readonly ms: number;
  /** Whether a plugin answered. It may answer again in the replay. */
  readonly answered: boolean;
  /** Whether it waited too long for a rate limit. */
  readonly refused: boolean;
}

/** A tool call that can be replayed. */
export type RecordedTool = Pick<
  ToolLine,
  | "run"
  | "task"
  | "attempt"
  | "tool"
  | "arguments"
  | "result"
  | "error"
  | "aborted"
  | "endMs"
  | "ms"
> & {
  readonly step?: string | undefined;
  readonly keys: readonly string[];
};

/** A run of a recording. */
export interface RecordedRun {
  readonly id: string;
  readonly startedAt: Date;
  /** The id of the run that this run joined. */
  readonly parent?: string | undefined;
}

/** External data of a step without a separate kind of line. */
export interface RecordedValue {
  readonly value?: unknown;
  readonly error?: StoredError | undefined;
}

/**
 * The position of a repeated step. `attempt` is the attempt of the call for a model, and of the
 * task for a tool.
 */
export interface ReplayedPlace {
  readonly run: string | undefined;
  readonly task: string;
  readonly iteration?: number | undefined;
  readonly attempt: number;
  readonly step?: string | undefined;
}

type Entry = (RecordedCall | RecordedTool) & { readonly iteration?: number };

/** The unused entries of a recording: one list per key, in the recorded order. */
class EntryIndex<E extends Entry> {
  readonly #byKey = new Map<string, Set<E>>();
  readonly #left = new Set<E>();

  add(entry: E): void {
    this.#left.add(entry);
    for (const key of entry.keys) {
      const entries = this.#byKey.get(key);
      if (entries === undefined) this.#byKey.set(key, new Set([entry]));
      else entries.add(entry);
    }
  }

  /**
   * Returns the entry recorded at this position. Unless `strict` is set, a missing entry is
   * replaced by the entry at the most similar position.
   */
  take(keys: readonly string[], place: ReplayedPlace, strict = false): E | undefined {
    for (const key of keys) {
      const entry = nearest(this.#byKey.get(key) ?? [], place);
      if (entry === undefined || (strict && savedScore(entry, place) !== IN_PLACE)) continue;
      this.#remove(entry);
      return entry;
    }
    return undefined;
  }

  get isEmpty(): boolean {
    return this.#left.size === 0;
  }

  /** Whether the index has unused entries of this key. */
  knows(key: string): boolean {
    return (this.#byKey.get(key)?.size ?? 0) > 0;
  }

  left(): Iterable<E> {
    return this.#left;
  }

  #remove(entry: E): void {
    this.#left.delete(entry);
    for (const key of entry.keys) this.#byKey.get(key)?.delete(entry);
  }
}

/** The score of an equal run, task, iteration and attempt. */
const EQUAL_POSITION = 15;
const IN_PLACE = EQUAL_POSITION + 1;

function nearest<E extends Entry>(entries: Iterable<E>, place: ReplayedPlace): E | undefined {
  let best: E | undefined;
  let bestScore = -1;
  for (const entry of entries) {
    const score = savedScore(entry, place);
    if (score === IN_PLACE) return entry;
    if (score > bestScore) [best, bestScore] = [entry, score];
  }
  return best;
}

/**
 * Returns the similarity of two positions. For equal requests the run has the greatest weight, then
 * the task, then the position in it. Parallel branches therefore do not use the answers of each
 * other. Equal calls of one turn have equal positions: only their steps distinguish them.
 */
function savedScore(entry: Entry, { run, task, iteration, attempt, step }: ReplayedPlace): number {
  const isUnnamed = step === undefined || entry.step === undefined;
  if (!isUnnamed && entry.step === step) return IN_PLACE;
  const score =
    (entry.run === run ? 8 : 0) +
    (entry.task === task ? 4 : 0) +
    (entry.iteration === iteration ? 2 : 0) +
    (entry.attempt === attempt ? 1 : 0);
  return isUnnamed && score === EQUAL_POSITION ? IN_PLACE : score;
}

/** All recorded data. Marks the parts that were replayed. */
export class Recording {
  readonly calls = new EntryIndex<RecordedCall>();
  readonly tools = new EntryIndex<RecordedTool>();
  readonly refusals = new EntryIndex<RecordedCall>();
  readonly allCalls: RecordedCall[] = [];
  readonly allTools: RecordedTool[] = [];
  readonly delegationIds: string[] = [];
  /** By the key of their step. */
  readonly values = new Map<string, RecordedValue>();
  /** Steps that end with an accepted output. */
  readonly committed = new Set<string>();
  /** Steps within tool calls that the recording answered. */
  readonly skipped = new Set<string>();
  readonly #runs: RecordedRun[] = [];
  /** Starts and ends with their positions, by run. */
  readonly #events = new Map<string, Map<number, StepEvent>>();
  /** By the id of a run of the replay. */
  readonly #playing = new Map<string, RecordedRun>();
  readonly #given = new Set<RecordedRun>();

  constructor(
    /** The name of the source in messages. */
    readonly source: string,
    /** A trace has no keys. Its calls are found by their positions. */
    readonly kind: "recording" | "trace",
    /** Part of its hashes. */
    readonly salt = "",
  ) {}

  /** Whether it has the order of steps and the external data. */
  get isOrdered(): boolean {
    return this.#events.size > 0;
  }

  addStep(run: string, times: StepTimes): void {
    const { step: key, owner, started, startedMs, ended, endedMs = startedMs } = times;
    let events = this.#events.get(this.#rootOf(run));
    if (events === undefined)
      this.#events.set(this.#rootOf(run), (events = new Map<number, StepEvent>()));
    events.set(started, { key, owner, phase: "start", ms: startedMs });
    if (ended !== undefined) events.set(ended, { key, owner, phase: "end", ms: endedMs });
  }

  /** The starts and ends of the steps of a run, and of the runs that joined it. */
  eventsOf(run: string): readonly StepEvent[] {
    const events = [...(this.#events.get(run) ?? [])].sort(([a], [b]) => a - b);
    return events.map(([, event]) => event);
  }

  addRun(run: RecordedRun): void {
    this.#runs.push(run);
  }

  addCall(call: RecordedCall): void {
    this.allCalls.push(call);
    (call.refused ? this.refusals : this.calls).add(call);
  }

  addTool(tool: RecordedTool): void {
    this.allTools.push(tool);
    this.tools.add(tool);
  }

  /** The id of the next run, in the recorded order. */
  nextRunId(): string | undefined {
    const run = this.#next();
    if (run !== undefined) this.#given.add(run);
    return run?.id;
  }

  /** Releases an id that no run has used, for the next run. */
  giveBack(id: string): void {
    const run = this.#runs.find((one) => one.id === id);
    if (run !== undefined && !this.#isPlaying(run)) this.#given.delete(run);
  }

  /**
   * Returns the recorded run that a run repeats: the one with the same id, or else the next unused
   * one.
   */
  begin(id: string): RecordedRun | undefined {
    const same = this.#runs.find((run) => run.id === id && !this.#isPlaying(run));
    const run = same ?? this.#next();
    if (run === undefined) return undefined;
    this.#given.add(run);
    this.#playing.set(id, run);
    return run;
  }

  /** Returns the recorded run that {@link begin} found for a run. */
  runOf(id: string): RecordedRun | undefined {
    return this.#playing.get(id);
  }

  /**
   * Returns the recorded calls of a run that were not replayed, except answers of plugins and calls
   * within answered tool calls.
   */
  leftOf(run: RecordedRun): readonly (RecordedCall | RecordedTool)[] {
    const isLeft = ({ run: id, step = "", aborted }: RecordedCall | RecordedTool): boolean =>
      id === run.id && aborted === undefined && !this.skipped.has(step);
    const calls = [...this.calls.left()].filter((call) => isLeft(call) && !call.answered);
    return [...calls, ...[...this.tools.left()].filter(isLeft)];
  }

  #rootOf(id: string): string {
    const parent = this.#runs.find((run) => run.id === id)?.parent;
    return parent === undefined ? id : this.#rootOf(parent);
  }

  #next(): RecordedRun | undefined {
    return this.#runs.find((run) => !this.#given.has(run));
  }

  #isPlaying(run: RecordedRun): boolean {
    return [...this.#playing.values()].includes(run);
  }
}
