import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
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
  RunStatus,
} from "../../../../contracts/journal.js";
import { ValidationError } from "../../../../contracts/errors.js";
import {
  JournalError,
  RunFencedError,
  RunInUseError,
} from "../../../../contracts/journal-errors.js";
import { makeFolder } from "../../../../util/files/make-folder.js";
import { openFileAt } from "../../../../util/files/open-file.js";
import { syncFolder } from "../../../../util/files/sync-folder.js";
import { systemClock } from "../../../../util/runtime.js";
import { canBeCancelled, requestedEnd } from "../requested-end.js";
import { checkRunFilter, isEnded, listOf } from "../run-list.js";
import { readCancelReason, requestCancel, withdrawCancel } from "./cancel-request.js";
import { withJournalErrors } from "./file-errors.js";
import { FileReviews } from "./file-reviews.js";
import { RunCompaction } from "./run-compaction.js";
import { RunFile } from "./run-file.js";
import { RunFolder } from "./run-folder.js";
import { recordOf } from "./run-record.js";
import { readRun } from "./run-reader.js";

/** The size of all runs of a folder in bytes, above which completed runs are rewritten. */
const ROOMY_BYTES = 64 << 20;

/**
 * Opens a journal in a folder, with one file for each run. Several processes may use the folder
 * concurrently. One process at a time executes a run. Files are opened and created on first use.
 * Default folder: `.agentensemble/runs`. Above `roomyBytes` in the folder, completed runs are
 * rewritten without calls.
 */
export function openFileJournal(
  folder = join(".agentensemble", "runs"),
  o: { readonly roomyBytes?: number | undefined } = {},
): Journal {
  return new FileJournal(resolve(folder), o.roomyBytes ?? ROOMY_BYTES);
}

interface HeldRun {
  readonly file: RunFile;
  readonly epoch: number;
}

class FileJournal implements Journal {
  readonly name: string;
  readonly reviews: FileReviews;
  readonly #folder: RunFolder;
  readonly #compaction: RunCompaction;
  /** The runs that this object executes. */
  readonly #held = new Map<string, HeldRun>();
  #isClosed = false;

  constructor(folder: string, roomyBytes: number) {
    this.#folder = new RunFolder(folder);
    this.name = `file:${folder}`;
    this.#compaction = new RunCompaction(folder, this.#folder.locks, roomyBytes);
    this.reviews = new FileReviews({
      folder: join(folder, "reviews"),
      url: this.name,
      isOver: async (runId) => isEnded((await this.#folder.stateOf(runId))?.end?.status),
    });
  }

  async claim(request: ClaimRequest): Promise<Claim> {
    const { leaseMs, owner, signal } = request;
    signal.throwIfAborted();
    const start = jsonCopy(request.start);
    const { runId } = start;
    const work = async (): Promise<Claim> => {
      const at = now();
      const space = await this.#folder.locks.space();
      await makeFolder(this.#folder.path);
      const lock = await this.#folder.take(runId, { leaseMs, signal });
      const opened = { leavesOut: true, space, create: { start, at } };
      const { file, contents } = await RunFile.opened(lock, this.#folder.pathOf(runId), opened);
      try {
        const { claim, end, grew, executions, table, entries } = contents;
        const died = claim !== undefined && end === undefined;
        const fruitless = died && !grew ? claim.fruitless + 1 : 0;
        const { cancelReason: _, ...before } = recordOf({
          ...contents,
          finishedTasks: table.finished,
        });
        const cancelReason = await readCancelReason(file.path);
        await file.begin({ owner, leaseMs, fruitless, space, at });
        const epoch = executions + 1;
        await this.#held.get(runId)?.file.close(); // the file of a lost claim of this object
        this.#held.set(runId, { file, epoch });
        const record = Object.freeze({
          ...before,
          executions: epoch,
          fruitlessExecutions: fruitless,
          ...(cancelReason !== undefined && { cancelReason }),
        });
        return { runId, epoch, record, entries: [...entries.values()] };
      } catch (error) {
        await file.close();
        throw error;
      }
    };
    return this.#act("Claiming", runId, work, signal);
  }

  append(claim: Claim, entry: JournalEntry): Promise<void> {
    const { runId } = claim;
    return this.#act("Writing to", runId, () => {
      const file = this.#heldBy(claim);
      return file === undefined ? Promise.reject(new RunFencedError(runId)) : file.append(entry);
    });
  }

  renew(claim: Claim): Promise<Renewal> {
    return this.#act("Looking at", claim.runId, async () => {
      const file = this.#heldBy(claim);
      if (file === undefined || !(await file.isOurs())) return { state: "lost" };
      const cancelReason = await readCancelReason(file.path);
      return { state: "held", ...(cancelReason !== undefined && { cancelReason }) };
    });
  }

  release(claim: Claim, end: ClaimEnd): Promise<void> {
    const { runId } = claim;
    return this.#act("Ending", runId, async () => {
      const file = this.#heldBy(claim);
      if (file === undefined) return;
      let status: RunStatus | undefined;
      try {
        const requested = requestedEnd(end, await readCancelReason(file.path));
        await file.end({ ...requested, at: now() });
        ({ status } = requested);
        if (!canBeCancelled(status)) await withdrawCancel(file.path);
      } catch (error) {
        // The claim stays, and is released when there is space.
        if (!RunFencedError.isInstance(error)) throw error;
      }
      this.#held.delete(runId);
      await file.close();
      if (status === "completed") await this.#compaction.afterCompletion(file.path);
      if (status !== undefined && canBeCancelled(status)) await this.#cancelRequested(runId);
    });
  }

  get(runId: string): Promise<KeptRun | undefined> {
    return this.#act("Reading", runId, () => this.#folder.recordOf(runId));
  }

  list(filter: RunFilter = {}): Promise<RunPage> {
    return this.#act("Listing", undefined, async () => {
      checkRunFilter(filter);
      return listOf(await this.#folder.records(), filter);
    });
  }

  entries(runId: string): Promise<readonly KeptEntry[]> {
    return this.#act("Reading", runId, async () => {
      if ((await this.#folder.stateOf(runId)) === undefined) return [];
      const path = this.#folder.pathOf(runId);
      const file = await openFileAt(path, "read");
      if (file === undefined) return [];
      try {
        return [...(await readRun(file, path, false)).entries.values()];
      } finally {
        await file.close();
      }
    });
  }

  create(start: RunStart, entries: readonly JournalEntry[], waitsFor: string): Promise<void> {
    const copy = jsonCopy({ start, entries, waitsFor });
    const { runId } = start;
    return this.#act("Creating", runId, async () => {
      if ((await this.#folder.stateOf(runId)) !== undefined) throw taken(runId);
      await makeFolder(this.#folder.path);
      const create = { ...copy, at: now() };
      const { file, isNew } = await this.#opened(runId, create, () => taken(runId));
      await file.close();
      if (!isNew) throw taken(runId);
    });
  }

  amend(runId: string, entry: JournalEntry): Promise<void> {
    return this.#act("Changing", runId, async () => {
      if ((await this.#folder.stateOf(runId)) === undefined) throw unknown(runId);
      const { file, contents } = await this.#opened(runId, undefined, () => unknown(runId));
      try {
        const writing = [file.append(entry, true)];
        // The last line has the state of the run.
        if (contents.end !== undefined) writing.push(file.end(contents.end));
        await Promise.all(writing);
      } finally {
        await file.close();
      }
    });
  }

  cancel(runId: string, reason: string): Promise<boolean> {
    return this.#act("Cancelling", runId, async () => {
      for (let isRequested = false; ; isRequested = true) {
        const state = await this.#folder.stateOf(runId);
        const status = state === undefined ? "completed" : (state.end?.status ?? "running");
        // The process of the run executed the request.
        if (isEnded(status)) return isRequested && status === "cancelled";
        try {
          await this.#cancelIdle(runId, reason);
          return true;
        } catch (error) {
          if (!RunInUseError.isInstance(error)) throw error;
        }
        const path = this.#folder.pathOf(runId);
        await requestCancel(path, reason);
        if (await this.#folder.locks.isHeld(path)) return true;
        // The execution has ended since, and may have missed the request.
        await withdrawCancel(path);
      }
    });
  }

  delete(runId: string): Promise<boolean> {
    return this.#act("Deleting", runId, async () => {
      if ((await this.#folder.stateOf(runId)) === undefined) return false;
      const lock = await this.#folder.take(runId);
      try {
        const path = this.#folder.pathOf(runId);
        await this.reviews.forget(runId);
        await withdrawCancel(path);
        await rm(path, { force: true });
        await syncFolder(this.#folder.path);
      } finally {
        await lock.release();
      }
      return true;
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.reviews.close();
    const held = [...this.#held.values()];
    this.#held.clear();
    await withJournalErrors(`Closing ${this.name}`, async () => {
      await Promise.all(held.map(({ file }) => file.close()));
    });
  }

  async #cancelIdle(runId: string, cancelReason: string): Promise<void> {
    const { file, contents } = await this.#opened(runId, undefined, () => unknown(runId));
    try {
      const { status, result } = contents.end ?? { status: "running", result: undefined };
      if (!isEnded(status))
        await file.end({ status: "cancelled", result, cancelReason, at: now() });
      await withdrawCancel(file.path);
    } finally {
      await file.close();
    }
  }

  /**
   * Opens a run that no process executes, for a change. `create` is the run to create if there is
   * none.
   * @throws RunInUseError; the error of `missing` without a run.
   */
  async #opened(
    runId: string,
    create: Parameters<typeof RunFile.opened>[2]["create"],
    missing: () => Error,
  ): ReturnType<typeof RunFile.opened> {
    const space = await this.#folder.locks.space();
    const lock = await this.#folder.take(runId);
    return RunFile.opened(lock, this.#folder.pathOf(runId), {
      leavesOut: false,
      space,
      create,
      missing,
    });
  }

  /**
   * Executes a request that was made after the end of the execution was written and before its lock
   * was released.
   */
  async #cancelRequested(runId: string): Promise<void> {
    const reason = await readCancelReason(this.#folder.pathOf(runId));
    if (reason === undefined) return;
    try {
      await this.#cancelIdle(runId, reason);
    } catch (error) {
      const isDeleted = ValidationError.isInstance(error);
      // The next execution finds the request.
      if (!isDeleted && !RunInUseError.isInstance(error)) throw error;
    }
  }

  #heldBy({ runId, epoch }: Claim): RunFile | undefined {
    const held = this.#held.get(runId);
    return held?.epoch === epoch ? held.file : undefined;
  }

  /** @throws JournalError once the journal is closed, and for errors of the file system. */
  #act<T>(
    what: string,
    runId: string | undefined,
    work: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const name = runId === undefined ? this.#folder.path : `run '${runId}' in ${this.#folder.path}`;
    const open = (): Promise<T> =>
      this.#isClosed ? Promise.reject(new JournalError("The journal has been closed")) : work();
    return withJournalErrors(`${what} ${name}`, open, signal);
  }
}

const now = (): string => systemClock.now().toISOString();
const unknown = (runId: string): Error => new ValidationError(`There is no run '${runId}'`);
const taken = (runId: string): Error =>
  new ValidationError(`There is a run '${runId}' already`, { hint: "Choose another runId." });

/**
 * Protects against later changes of the object by the caller. The value is JSON data, by the
 * contract.
 */
function jsonCopy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
