import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { RunSummary } from "../../../../contracts/run-store.js";
import { fileNameOfId } from "../../../../util/files/id-file-name.js";
import { messageOf } from "../../../../util/errors.js";
import { openFileAt } from "../../../../util/files/open-file.js";
import { writeFileAtomically } from "../../../../util/files/atomic-write.js";
import { codeOf } from "../../../../util/objects.js";
import { emitProcessWarning } from "../../../../util/process-warning.js";
import { createRunState } from "../../protocol/run-state.js";
import { LogFile, runOfLog } from "./log-file.js";

const EXTENSION = ".log.jsonl";
/** The extension of traces. It differs from the name of a trace file, which is a separate run. */
const TRACE_EXTENSION = ".trace.json.gz";
/** Number of logs whose positions in the file are remembered. */
const MAX_OPEN = 32;
const PAGE = 1_000;
const gzipped = promisify<string, Buffer>(gzip);
const gunzipped = promisify<Buffer, Buffer>(gunzip);

/** The logs of a folder. */
export class RunFiles {
  readonly folder: string;
  readonly #open = new Map<string, LogFile>();
  readonly #reported = new Set<string>();

  constructor(folder: string) {
    this.folder = folder;
  }

  logOf(runId: string): LogFile {
    const name = fileNameOfId(runId, EXTENSION, "run");
    const log = this.#open.get(runId) ?? new LogFile(join(this.folder, name), runId);
    this.#open.delete(runId);
    this.#open.set(runId, log);
    for (const [id] of this.#open) {
      if (this.#open.size <= MAX_OPEN) break;
      this.#open.delete(id);
    }
    return log;
  }

  /** Clears the cached state of the files, because another process may have changed them. */
  forget(): void {
    this.#open.clear();
  }

  async remove(runId: string): Promise<void> {
    await this.logOf(runId).remove();
    await rm(this.#traceOf(runId), { force: true });
    this.#open.delete(runId);
  }

  async putTrace(runId: string, trace: string): Promise<void> {
    await writeFileAtomically(this.#traceOf(runId), await gzipped(trace));
  }

  /**
   * Returns the trace of a run. Returns `undefined` if there is none.
   * @throws errors of the file system, and of a damaged file
   */
  async trace(runId: string): Promise<string | undefined> {
    const file = await openFileAt(this.#traceOf(runId), "read");
    if (file === undefined) return undefined;
    try {
      return String(await gunzipped(await file.readFile()));
    } finally {
      await file.close();
    }
  }

  /**
   * Creates the summaries of the logs that `known` does not contain. Omits a log that can't be
   * read. A process warning names the log once.
   */
  async summariesWithout(known: ReadonlyMap<string, unknown>): Promise<readonly RunSummary[]> {
    const files = new Set([...known.keys()].map((id) => fileNameOfId(id, EXTENSION, "run")));
    const found: RunSummary[] = [];
    for (const name of await this.#names()) {
      if (files.has(name)) continue;
      const run = await this.#summaryOf(join(this.folder, name)).catch((error: unknown) => {
        this.report(name, error);
      });
      if (run !== undefined) found.push(run);
    }
    return found;
  }

  /** Emits a process warning about a file, once. */
  report(name: string, error: unknown): void {
    if (this.#reported.has(name)) return;
    this.#reported.add(name);
    emitProcessWarning(`${join(this.folder, name)} is left out of the runs: ${messageOf(error)}`);
  }

  /** Returns whether the folder has logs. */
  async hasLogs(): Promise<boolean> {
    return (await this.#names()).length > 0;
  }

  #traceOf(runId: string): string {
    return join(this.folder, fileNameOfId(runId, TRACE_EXTENSION, "run"));
  }

  async #names(): Promise<readonly string[]> {
    const names = await readdir(this.folder).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return [];
      throw error;
    });
    return names.filter((name) => name.endsWith(EXTENSION) && !name.startsWith("."));
  }

  async #summaryOf(path: string): Promise<RunSummary> {
    const runId = await runOfLog(path);
    if (runId === undefined) throw new Error("it has no head of a run's log");
    const log = new LogFile(path, runId);
    const state = createRunState();
    for (let after = -1; ;) {
      const entries = (await log.read(after, PAGE)) ?? [];
      for (const entry of entries) state.apply(entry);
      after = entries.at(-1)?.n ?? after;
      if (entries.length < PAGE) return { ...state.view.summary, runId };
    }
  }
}
