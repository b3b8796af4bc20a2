import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type {
  AuditEntry,
  AuditPage,
  LogEntry,
  RunQuery,
  RunStore,
  RunSummary,
} from "../../../../contracts/run-store.js";
import type { Clock } from "../../../../contracts/runtime.js";
import { RunStoreError } from "../../../../contracts/state-errors.js";
import {
  checkOptions,
  preview,
  requireInteger,
  requireText,
} from "../../../../contracts/validation.js";
import { isLockHeld } from "../../../../util/files/lock-state.js";
import { makeFolder } from "../../../../util/files/make-folder.js";
import { systemClock } from "../../../../util/runtime.js";
import { pageOfRuns, type ListedRuns } from "../run-query.js";
import { asInterrupted, isRemovable } from "../run-states.js";
import { SavedFiles, savedFilesIn } from "../saved/saved-files.js";
import { appendAuditLine, readAuditLines } from "./audit-file.js";
import { FileRunWriter, writerLockOf, type RetentionLimits } from "./file-run-writer.js";
import { RunFiles } from "./run-files.js";
import { RunIndex } from "./run-index.js";
import { withStoreErrors } from "./store-failures.js";

/**
 * Limits of the runs in a folder. Runs in progress, suspended runs and baselines are never removed.
 */
export interface RunFolderOptions {
  /** Maximum number of runs. Beyond it, the oldest runs are removed. Default 1,000. */
  readonly maxRuns?: number | undefined;
  /** Time since the end of a run in milliseconds, after which it is removed. Default: no limit. */
  readonly maxAgeMs?: number | undefined;
}

const WHAT = "RunStore.file";
const LIMITS = { maxRuns: 1_000, maxAgeMs: Number.POSITIVE_INFINITY };
/**
 * Age of a lock file in milliseconds. Readers treat a writer on another host with an older lock
 * file as ended.
 */
const SILENT_MS = 60_000;

/**
 * Returns a store of runs in a folder, which also shows the trace files and diagrams in the folder.
 * Files are opened and created on first use. Reads create no files. `clock` measures the age of
 * runs.
 */
export function fileRuns(
  folder = join(".agentensemble", "dashboard"),
  o: RunFolderOptions = {},
  clock: Pick<Clock, "now"> = systemClock,
): RunStore {
  requireText(folder, `The folder of ${WHAT} must not be blank, got: ${preview(folder)}`);
  checkOptions(WHAT, o, ["maxRuns", "maxAgeMs"]);
  requireInteger(`${WHAT} maxRuns`, o.maxRuns, 1);
  requireInteger(`${WHAT} maxAgeMs`, o.maxAgeMs, 1);
  const { maxRuns = LIMITS.maxRuns, maxAgeMs = LIMITS.maxAgeMs } = o;
  return new FileRuns(resolve(folder), { maxRuns, maxAgeMs }, clock);
}

class FileRuns implements RunStore {
  readonly #folder: string;
  readonly #limits: RetentionLimits;
  readonly #clock: Pick<Clock, "now">;
  readonly #files: RunFiles;
  readonly #saved: SavedFiles;
  readonly #audit: string;
  /** The parts of the index that a reader has read. */
  readonly #index: RunIndex;
  #writer: Promise<FileRunWriter> | undefined;
  /** Resolves with the last started write. */
  #writes: Promise<unknown> = Promise.resolve();
  #reads: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(folder: string, limits: RetentionLimits, clock: Pick<Clock, "now">) {
    this.#folder = folder;
    this.#limits = limits;
    this.#clock = clock;
    this.#files = new RunFiles(folder);
    this.#saved = SavedFiles.in(folder);
    this.#audit = join(folder, "audit.jsonl");
    this.#index = new RunIndex(join(folder, "index.jsonl"));
  }

  async append(runId: string, entries: readonly LogEntry[]): Promise<void> {
    requireText(runId, `A run id must not be blank, got: ${preview(runId)}`);
    const given = structuredClone(entries); // callers may change them before the write
    await this.#write((writer) => writer.append(runId, given));
  }

  async put(summary: RunSummary): Promise<void> {
    requireText(summary.runId, `A run id must not be blank, got: ${preview(summary.runId)}`);
    const given = structuredClone(summary);
    await this.#write(async (writer) => {
      await writer.put(given);
      if (isRemovable(given)) await writer.prune(this.#limits, this.#clock);
    });
  }

  async list(query: RunQuery): Promise<ListedRuns> {
    return structuredClone(pageOfRuns((await this.#runs()).values(), query));
  }

  async get(runId: string): Promise<RunSummary | undefined> {
    return structuredClone((await this.#runs()).get(runId));
  }

  read(runId: string, after: number, limit: number): Promise<readonly LogEntry[]> {
    return withStoreErrors(`Reading the log of run '${runId}'`, () =>
      this.#read(runId, after, limit),
    );
  }

  async remove(runId: string): Promise<void> {
    if (!(await this.#runs()).has(runId) && (await this.read(runId, -1, 1)).length === 0) return;
    const saved = await withStoreErrors(`Reading ${this.#folder}`, () => this.#saved.summaries());
    if (saved.has(runId))
      throw new RunStoreError(`Run '${runId}' is a trace file in ${this.#folder}`, {
        isReadOnly: true,
        hint: "Delete the file to remove the run.",
      });
    await this.#write((writer) => writer.remove(runId));
  }

  async putTrace(runId: string, trace: string): Promise<void> {
    requireText(runId, `A run id must not be blank, got: ${preview(runId)}`);
    await this.#write(() => this.#files.putTrace(runId, trace));
  }

  trace(runId: string): Promise<string | undefined> {
    return withStoreErrors(
      `Reading the trace of run '${runId}'`,
      async () => (await this.#files.trace(runId)) ?? this.#saved.trace(runId),
    );
  }

  async appendAudit(entry: AuditEntry): Promise<void> {
    const given = structuredClone(entry);
    await this.#write(() => appendAuditLine(this.#audit, given));
  }

  readAudit(limit: number, before?: string): Promise<AuditPage> {
    return withStoreErrors(`Reading ${this.#audit}`, () =>
      readAuditLines(this.#audit, limit, before === undefined ? undefined : Number(before)),
    );
  }

  async dispose(): Promise<void> {
    this.#isClosed = true;
    await this.#writes;
    // The caller of the failed write receives the error.
    const writer = await this.#writer?.catch(() => undefined);
    this.#writer = undefined;
    await writer?.close();
  }

  async #read(runId: string, after: number, limit: number): Promise<readonly LogEntry[]> {
    const own = await this.#files.logOf(runId).read(after, limit);
    return own ?? this.#saved.read(runId, after, limit);
  }

  /** Executes `work` after the previous writes, with the lock of the folder. */
  #write(work: (writer: FileRunWriter) => Promise<void>): Promise<void> {
    if (this.#isClosed)
      return Promise.reject(new RunStoreError(`The store of runs in ${this.#folder} is closed`));
    const done = this.#writes.then(() =>
      withStoreErrors(`Writing to ${this.#folder}`, async () => work(await this.#opened())),
    );
    this.#writes = done.catch(() => undefined); // the caller receives the error
    return done;
  }

  async #opened(): Promise<FileRunWriter> {
    this.#writer ??= this.#openWriter();
    try {
      const writer = await this.#writer;
      if (await writer.isHeld()) return writer;
      // The lock was removed or taken over, so data of other writers is read again.
      await writer.close();
      this.#writer = this.#openWriter();
      return await this.#writer;
    } catch (error) {
      this.#writer = undefined; // the next write tries again
      throw error;
    }
  }

  async #openWriter(): Promise<FileRunWriter> {
    const { path } = this.#index;
    await makeFolder(this.#folder);
    const isOwn = (await hasFile(path)) || (await this.#files.hasLogs());
    if (!isOwn && (await savedFilesIn(this.#folder)).length > 0)
      throw new RunStoreError(`${this.#folder} has trace files only: it is read, not written`, {
        isReadOnly: true,
        hint: "Use a separate folder for the runs of the dashboard.",
      });
    return FileRunWriter.open(path, this.#files);
  }

  /** Returns all current runs. A run with a log takes precedence over a trace file of its id. */
  #runs(): Promise<ReadonlyMap<string, RunSummary>> {
    const done = this.#reads.then(() =>
      withStoreErrors(`Reading ${this.#folder}`, async () => {
        const writer = await this.#writer?.catch(() => undefined); // reads continue without it
        const own = writer === undefined ? await this.#readIndex() : writer.index.runs;
        const saved = await this.#saved.summaries();
        return saved.size === 0 ? own : new Map([...saved, ...own]);
      }),
    );
    this.#reads = done.catch(() => undefined); // the caller receives the error
    return done;
  }

  async #readIndex(): Promise<ReadonlyMap<string, RunSummary>> {
    await this.#index.refresh();
    const found = this.#index.isDamaged ? await this.#files.summariesWithout(this.#index.runs) : [];
    const path = writerLockOf(this.#index.path);
    const isWritten = await isLockHeld(path, { silentMs: SILENT_MS });
    const runs = [...this.#index.runs.values(), ...found];
    return new Map(runs.map((run) => [run.runId, isWritten ? run : asInterrupted(run)]));
  }
}

async function hasFile(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false, // opening it reports the reason
  );
}
