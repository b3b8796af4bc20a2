import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Dag } from "../../../../contracts/dag.js";
import type { LogEntry, RunSummary } from "../../../../contracts/run-store.js";
import { messageOf } from "../../../../util/errors.js";
import { codeOf, isObject } from "../../../../util/objects.js";
import { emitProcessWarning } from "../../../../util/process-warning.js";
import { createRunState } from "../../protocol/run-state.js";
import { readSavedTrace } from "../../protocol/saved-trace.js";
import { dagToLog, traceToLog } from "../../protocol/trace-to-log.js";
import { planOfTrace } from "./saved-plan.js";

/** Matches `run.trace.json` and `trace.json`. */
const TRACE = /(^|[./\\])trace\.json$/;
const DAG = /(^|[./\\])dag\.json$/;
/**
 * Maximum size of a file in bytes. Larger files are omitted, because a file is read as one text.
 */
const MAX_BYTES = 256 << 20;
/** Number of cached logs, which are read page by page. */
const KEPT_LOGS = 4;

/** One run of a folder: a trace, a diagram, or both. */
interface SavedFile {
  readonly trace?: string | undefined;
  readonly dag?: string | undefined;
}

interface KnownFile {
  readonly file: SavedFile;
  /** Sizes and times of the files, to detect changes. */
  readonly mark: string;
  /** Absent for a file that can't be read. */
  readonly summary: RunSummary | undefined;
}

/** Runs from traces and diagrams. Each file is read again after a change. */
export class SavedFiles {
  readonly #files: () => Promise<readonly SavedFile[]>;
  readonly #known = new Map<string, KnownFile>();
  readonly #logs = new Map<string, { readonly mark: string; readonly log: readonly LogEntry[] }>();

  private constructor(files: () => Promise<readonly SavedFile[]>) {
    this.#files = files;
  }

  /**
   * Returns the traces and diagrams of a folder by their names, such as `run.trace.json` and
   * `dag.json`.
   */
  static in(folder: string): SavedFiles {
    return new SavedFiles(() => savedFilesIn(folder));
  }

  /** Returns single files with any names. */
  static of(paths: readonly string[]): SavedFiles {
    const files = tracesWithDiagrams(paths);
    return new SavedFiles(() => Promise.resolve(files));
  }

  /**
   * Returns the runs of all files. Omits a file that can't be read. A process warning names the
   * file once for each change. Of two files with the same run id, the last by name is used.
   * @throws errors of the file system about the folder.
   */
  async summaries(): Promise<ReadonlyMap<string, RunSummary>> {
    const runs = new Map<string, RunSummary>();
    for (const file of await this.#files()) {
      const { summary } = await this.#look(file);
      if (summary !== undefined) runs.set(summary.runId, summary);
    }
    return runs;
  }

  /**
   * Returns the trace file of a run unchanged. Returns `undefined` for an unknown run, and for a
   * diagram without a trace.
   */
  async trace(runId: string): Promise<string | undefined> {
    const path = (await this.#fileOf(runId))?.file.trace;
    return path === undefined ? undefined : savedJsonText(path);
  }

  /** Like `RunStore.read`. Returns no entry for an unknown run. */
  async read(runId: string, after: number, limit: number): Promise<readonly LogEntry[]> {
    const known = await this.#fileOf(runId);
    if (known === undefined) return [];
    const log = await this.#logOf(known);
    return structuredClone(log.slice(after + 1, after + 1 + limit));
  }

  async #fileOf(runId: string): Promise<KnownFile | undefined> {
    const find = (): KnownFile | undefined =>
      [...this.#known.values()].findLast(({ summary }) => summary?.runId === runId);
    const known = find();
    if (known !== undefined) return known;
    await this.summaries();
    return find();
  }

  async #look(file: SavedFile): Promise<KnownFile> {
    const key = mainPathOf(file);
    const mark = await markOf(file);
    const before = this.#known.get(key);
    if (before?.mark === mark) return before;
    let summary: RunSummary | undefined;
    try {
      summary = summaryOfLog(await readLog(file));
    } catch (error) {
      emitProcessWarning(`${key} is left out of the runs: ${messageOf(error)}`);
    }
    const known = { file, mark, summary };
    this.#known.delete(key); // the later read replaces the earlier
    this.#known.set(key, known);
    return known;
  }

  async #logOf({ file, mark }: KnownFile): Promise<readonly LogEntry[]> {
    const key = mainPathOf(file);
    const kept = this.#logs.get(key);
    this.#logs.delete(key);
    const log = kept?.mark === mark ? kept.log : await readLog(file);
    this.#logs.set(key, { mark, log });
    for (const [other] of this.#logs) {
      if (this.#logs.size <= KEPT_LOGS) break;
      this.#logs.delete(other);
    }
    return log;
  }
}

/** Returns the traces and diagrams of a folder, by name. */
export async function savedFilesIn(folder: string): Promise<readonly SavedFile[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  });
  const saved = names.filter((name) => TRACE.test(name) || DAG.test(name));
  return tracesWithDiagrams(saved.sort().map((name) => join(folder, name)));
}

/** Pairs the diagram of a run with its trace. */
function tracesWithDiagrams(paths: readonly string[]): readonly SavedFile[] {
  const all = new Set(paths);
  return [...all].flatMap((path): readonly SavedFile[] => {
    if (DAG.test(path)) return all.has(path.replace(DAG, "$1trace.json")) ? [] : [{ dag: path }];
    const dag = path.replace(TRACE, "$1dag.json");
    return [{ trace: path, dag: dag !== path && all.has(dag) ? dag : undefined }];
  });
}

function mainPathOf({ trace, dag }: SavedFile): string {
  return trace ?? dag ?? "";
}

async function markOf({ trace, dag }: SavedFile): Promise<string> {
  const marks = [trace, dag].map(async (path) => {
    if (path === undefined) return "";
    return stat(path).then(
      ({ mtimeMs, size, ino }) => `${mtimeMs}:${size}:${ino}`,
      () => "missing", // reading it reports the reason
    );
  });
  return (await Promise.all(marks)).join();
}

async function readLog({ trace, dag }: SavedFile): Promise<readonly LogEntry[]> {
  const diagram = dag === undefined ? undefined : asDag(await readJson(dag));
  if (trace !== undefined) {
    const saved = readSavedTrace(await readJson(trace), diagram);
    const runId = saved.runId === "" ? nameOfFile(trace) : saved.runId;
    return traceToLog({ ...saved, runId }, diagram ?? planOfTrace(saved));
  }
  if (dag === undefined || diagram === undefined) throw new Error("it is not a diagram");
  const drawnAt = Date.parse((diagram as { readonly generatedAt?: string }).generatedAt ?? "");
  const ms = Number.isNaN(drawnAt) ? Math.floor((await stat(dag)).mtimeMs) : drawnAt;
  return dagToLog(nameOfFile(dag), diagram, ms);
}

async function savedJsonText(path: string): Promise<string> {
  const { size } = await stat(path);
  if (size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
  return (await readFile(path, "utf8")).replace(/^\uFEFF/, "");
}

async function readJson(path: string): Promise<unknown> {
  const text = await savedJsonText(path);
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("it is not JSON"); // the message of the parser would show its content
  }
}

const DAG_LISTS = ["tasks", "agents", "parallelGroups", "criticalPath"];
const NODE_TEXTS = ["id", "description", "agentRole"];

/** Returns a diagram from a file. Fields that other writers omit get defaults. */
function asDag(value: unknown): Dag | undefined {
  if (!isObject(value) || value["type"] !== "dag") return undefined;
  if (!DAG_LISTS.every((name) => Array.isArray(value[name]))) return undefined;
  const { tasks, edges, workflow } = value as { readonly [K in keyof Dag]?: unknown };
  const nodes = (tasks as readonly unknown[]).filter(isObject).map((node) => ({
    dependsOn: [],
    expectedOutput: "",
    parallelGroup: 0,
    onCriticalPath: false,
    ...node,
  }));
  const isSound = nodes.every((node) =>
    NODE_TEXTS.every(
      (name) => typeof (node as Readonly<Record<string, unknown>>)[name] === "string",
    ),
  );
  if (!isSound) return undefined;
  return {
    ...value,
    workflow: typeof workflow === "string" ? workflow : "",
    tasks: nodes,
    edges: Array.isArray(edges) ? edges : [],
  } as unknown as Dag; // lists and texts were checked
}

function nameOfFile(path: string): string {
  return basename(path).replace(/(?:\.trace|\.dag)?\.json$/, "");
}

function summaryOfLog(log: readonly LogEntry[]): RunSummary {
  const state = createRunState();
  for (const entry of log) state.apply(entry);
  return state.view.summary;
}
