import type {
  Claim,
  ClaimEnd,
  ClaimRequest,
  Journal,
  JournalEntry,
  KeptEntry,
  KeptRun,
  Renewal,
  RunFilter,
  RunPage,
  RunStart,
} from "../../../../contracts/journal.js";
import type { Clock } from "../../../../contracts/runtime.js";
import { ValidationError } from "../../../../contracts/errors.js";
import {
  JournalError,
  RunFencedError,
  RunInUseError,
} from "../../../../contracts/journal-errors.js";
import { checkOptions } from "../../../../contracts/validation.js";
import { startTimer } from "../../../../util/abort/timer.js";
import { deepFreeze } from "../../../../util/objects.js";
import { systemClock } from "../../../../util/runtime.js";
import { requestedEnd, type RequestedEnd } from "../requested-end.js";
import { isEnded, listOf } from "../run-list.js";
import { InMemoryReviews } from "./in-memory-reviews.js";

/** Options of {@link InMemoryJournal}. */
export interface InMemoryJournalOptions {
  /** The clock. Default: the clock of the machine. */
  readonly clock?: Pick<Clock, "now"> | undefined;
}

interface Holder {
  readonly epoch: number;
  readonly owner: string;
  readonly leaseMs: number;
  untilMs: number;
}

interface StoredRun {
  record: KeptRun;
  readonly entries: Map<string, KeptEntry>;
  epoch: number;
  holder: Holder | undefined;
  /** Number of entries at the start of the current execution. */
  before: number;
}

/**
 * A journal in memory with the lifetime of the object, for tests and as the reference
 * implementation.
 */
export class InMemoryJournal implements Journal {
  readonly name = "memory";
  readonly isVolatile = true;
  readonly reviews: InMemoryReviews;
  readonly #clock: Pick<Clock, "now">;
  readonly #runs = new Map<string, StoredRun>();
  #closed = false;

  /** @throws ValidationError for an unknown option. */
  constructor(o: InMemoryJournalOptions = {}) {
    checkOptions("InMemoryJournal", o, ["clock"]);
    this.#clock = o.clock ?? systemClock;
    this.reviews = new InMemoryReviews(this.#clock, (runId) =>
      isEnded(this.#runs.get(runId)?.record.status),
    );
  }

  async claim(request: ClaimRequest): Promise<Claim> {
    const { start, owner, leaseMs, signal } = request;
    const untilMs = this.#now() + leaseMs;
    for (;;) {
      signal.throwIfAborted();
      this.#requireOpen();
      const held = this.#runs.get(start.runId);
      if (held?.holder === undefined || !this.#isHeld(held)) break;
      const leftMs = Math.min(held.holder.untilMs, untilMs) - this.#now();
      if (leftMs <= 0) throw new RunInUseError(start.runId, held.holder.owner);
      await waited(leftMs, signal);
    }
    const run = this.#runs.get(start.runId) ?? this.#added(start, "running");
    const { cancelReason: reason, ...record } = run.record;
    const cancelReason = record.status === "cancelled" ? undefined : reason;
    const died = record.status === "running" && record.executions > 0;
    const grew = run.entries.size > run.before;
    const claimed: KeptRun = {
      ...record,
      executions: record.executions + 1,
      fruitlessExecutions: died && !grew ? record.fruitlessExecutions + 1 : 0,
      ...(cancelReason !== undefined && { cancelReason }),
    };
    run.epoch++;
    run.before = run.entries.size;
    run.holder = { epoch: run.epoch, owner, leaseMs, untilMs: this.#now() + leaseMs };
    const { waitsFor: _, result: __, ...going } = claimed;
    run.record = { ...going, status: "running", updatedAt: this.#instant() };
    const entries = [...run.entries.values()];
    return { runId: start.runId, epoch: run.epoch, record: shown(claimed), entries };
  }

  async append(claim: Claim, entry: JournalEntry): Promise<void> {
    const run = this.#held(claim);
    const known = run.entries.get(entry.key);
    if (known === undefined || known.kind === "intent") this.#put(run, entry);
  }

  async renew(claim: Claim): Promise<Renewal> {
    this.#requireOpen();
    const run = this.#runs.get(claim.runId);
    const holder = run?.holder;
    if (run === undefined || holder?.epoch !== claim.epoch) return { state: "lost" };
    holder.untilMs = this.#now() + holder.leaseMs;
    const { cancelReason } = run.record;
    return cancelReason === undefined ? { state: "held" } : { state: "held", cancelReason };
  }

  async release(claim: Claim, end: ClaimEnd): Promise<void> {
    this.#requireOpen();
    const run = this.#runs.get(claim.runId);
    if (run === undefined || run.holder?.epoch !== claim.epoch) return;
    run.holder = undefined;
    this.#setStatus(run, requestedEnd(end, run.record.cancelReason));
  }

  async get(runId: string): Promise<KeptRun | undefined> {
    this.#requireOpen();
    const run = this.#runs.get(runId);
    return run === undefined ? undefined : this.#view(run);
  }

  async list(filter: RunFilter = {}): Promise<RunPage> {
    this.#requireOpen();
    return listOf(
      [...this.#runs.values()].map((run) => this.#view(run)),
      filter,
    );
  }

  async entries(runId: string): Promise<readonly KeptEntry[]> {
    this.#requireOpen();
    return [...(this.#runs.get(runId)?.entries.values() ?? [])];
  }

  async create(start: RunStart, entries: readonly JournalEntry[], waitsFor: string): Promise<void> {
    this.#requireOpen();
    if (this.#runs.has(start.runId))
      throw new ValidationError(`There is a run '${start.runId}' already`);
    const run = this.#added(start, "waiting");
    run.record = { ...run.record, waitsFor };
    for (const entry of entries) this.#put(run, entry);
  }

  async amend(runId: string, entry: JournalEntry): Promise<void> {
    this.#requireOpen();
    const run = this.#runs.get(runId);
    if (run === undefined) throw new ValidationError(`There is no run '${runId}'`);
    this.#requireFree(run);
    this.#put(run, entry);
  }

  async cancel(runId: string, reason: string): Promise<boolean> {
    this.#requireOpen();
    const run = this.#runs.get(runId);
    if (run === undefined || isEnded(run.record.status)) return false;
    run.record = { ...run.record, cancelReason: reason };
    if (!this.#isHeld(run)) this.#setStatus(run, { status: "cancelled", cancelReason: reason });
    return true;
  }

  async delete(runId: string): Promise<boolean> {
    this.#requireOpen();
    const run = this.#runs.get(runId);
    if (run === undefined) return false;
    this.#requireFree(run);
    this.#runs.delete(runId);
    this.reviews.forget(runId);
    return true;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.reviews.close();
  }

  #added(start: RunStart, status: "running" | "waiting"): StoredRun {
    const now = this.#instant();
    const record: KeptRun = {
      ...start,
      status,
      startedAt: now,
      updatedAt: now,
      executions: 0,
      fruitlessExecutions: 0,
      finishedTasks: 0,
    };
    const run = { record: copied(record), entries: new Map(), epoch: 0, before: 0 };
    const added: StoredRun = { ...run, holder: undefined };
    this.#runs.set(start.runId, added);
    return added;
  }

  #put(run: StoredRun, entry: JournalEntry): void {
    if (entry.kind === "redo") this.#removeEntriesOf(run, entry.task);
    const known = run.entries.get(entry.key);
    const execution = Math.max(run.record.executions, 1);
    const kept = { ...copied(entry), at: this.#instant(), execution };
    // The entry moves to the position of the newer entry.
    if (known !== undefined && known.kind !== entry.kind) run.entries.delete(entry.key);
    run.entries.set(entry.key, deepFreeze(kept));
    if (entry.kind === "task" && known?.kind !== "task")
      run.record = { ...run.record, finishedTasks: run.record.finishedTasks + 1 };
  }

  #removeEntriesOf(run: StoredRun, task: string): void {
    for (const [key, { kind, task: owner }] of run.entries) {
      if (owner !== task || kind === "redo") continue;
      run.entries.delete(key);
      if (kind === "task")
        run.record = { ...run.record, finishedTasks: run.record.finishedTasks - 1 };
    }
  }

  #setStatus(run: StoredRun, { status, waitsFor, result, cancelReason }: RequestedEnd): void {
    const { cancelReason: _, waitsFor: __, ...record } = run.record;
    run.record = {
      ...record,
      status,
      updatedAt: this.#instant(),
      fruitlessExecutions: 0,
      ...(waitsFor !== undefined && { waitsFor }),
      ...(result !== undefined && { result: copied(result) }),
      ...(cancelReason !== undefined && { cancelReason }),
    };
  }

  #held(claim: Claim): StoredRun {
    this.#requireOpen();
    const run = this.#runs.get(claim.runId);
    if (run?.holder?.epoch === claim.epoch) return run;
    throw new RunFencedError(claim.runId);
  }

  #isHeld({ holder }: StoredRun): boolean {
    return holder !== undefined && holder.untilMs > this.#now();
  }

  #requireFree(run: StoredRun): void {
    if (run.holder !== undefined && this.#isHeld(run))
      throw new RunInUseError(run.record.runId, run.holder.owner);
  }

  #view(run: StoredRun): KeptRun {
    const { record, holder } = run;
    return shown(
      holder !== undefined && this.#isHeld(run) ? { ...record, owner: holder.owner } : record,
    );
  }

  #requireOpen(): void {
    if (this.#closed) throw new JournalError("The journal in memory has been closed");
  }

  #now(): number {
    return this.#clock.now().getTime();
  }

  #instant(): string {
    return this.#clock.now().toISOString();
  }
}

/** Returns a value as a file or a database would return it. */
function copied<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T; // JSON data, by the contract
}

function shown(record: KeptRun): KeptRun {
  return Object.freeze({ ...record });
}

/** @throws the reason of the signal. */
function waited(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = startTimer(Math.max(0, ms), () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    const onAbort = (): void => {
      stop();
      reject(signal.reason as Error); // the reason of the caller
    };
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
