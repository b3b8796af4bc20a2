import type { Dag } from "../../../src/contracts/dag.js";
import type { LogEntry } from "../../../src/contracts/run-store.js";
import {
  readSavedTrace,
  type SavedTrace,
} from "../../../src/plugins/dashboard/protocol/saved-trace.js";
import { dagToLog, traceToLog } from "../../../src/plugins/dashboard/protocol/trace-to-log.js";
import { planOfTrace } from "./trace-plan.js";

/** A run that was read from files. */
export interface ReadRun {
  readonly runId: string;
  readonly entries: readonly LogEntry[];
}

/** The result of reading files: their runs, and the reasons for files without a run. */
export interface ReadFiles {
  readonly runs: readonly ReadRun[];
  readonly problems: readonly string[];
}

/** Larger files are not read. */
const MOST_BYTES = 256 * 1_024 * 1_024;

/** The part of a browser's file that is read. */
export interface TextFile {
  readonly name: string;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly lastModified: number;
  text(): Promise<string>;
}

type Content =
  | { readonly kind: "trace"; readonly trace: unknown }
  | { readonly kind: "dag"; readonly dag: Dag }
  | { readonly kind: "log"; readonly entries: readonly LogEntry[] };

/**
 * Reads traces, diagrams and logs. A diagram belongs to the trace with the same name
 * (`r-1.trace.json` and `r-1.dag.json`). A diagram without a trace is shown as a run that never
 * began.
 */
export async function readFiles(files: readonly TextFile[]): Promise<ReadFiles> {
  const problems: string[] = [];
  const contents = new Map<TextFile, Content>();
  for (const file of files)
    try {
      contents.set(file, await contentOf(file));
    } catch (error) {
      problems.push(`${file.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  const diagrams = new Map<string, Dag>();
  for (const [{ name }, content] of contents)
    if (content.kind === "dag") diagrams.set(stemOf(name), content.dag);
  const runs: ReadRun[] = [];
  for (const [file, content] of contents)
    try {
      const run = runOf(file, content, diagrams.get(stemOf(file.name)));
      const isPair =
        content.kind === "dag" &&
        [...contents].some(
          ([other, { kind }]) => kind === "trace" && stemOf(other.name) === stemOf(file.name),
        );
      if (!isPair) runs.push(run);
    } catch (error) {
      problems.push(`${file.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  return { runs, problems };
}

/** @throws Error for a file without a run. */
async function contentOf(file: TextFile): Promise<Content> {
  if (file.size > MOST_BYTES) throw new Error("the file has more than 256 MiB");
  const text = (await file.text()).replace(/^\uFEFF/, "");
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const value = parsed(text);
  if (value === undefined) {
    const entries = lines.map(parsed).filter(isEntry);
    if (entries.length === 0 || entries.length !== lines.length)
      throw new Error("the file is no JSON, and no log with one JSON document per line");
    return { kind: "log", entries: numbered(entries) };
  }
  if (isEntry(value)) return { kind: "log", entries: numbered([value]) };
  if (isDag(value)) return { kind: "dag", dag: value };
  return { kind: "trace", trace: value };
}

/** @throws Error for an invalid trace. */
function runOf(file: TextFile, content: Content, diagram: Dag | undefined): ReadRun {
  const fallback = stemOf(file.name);
  if (content.kind === "log") {
    const runId = content.entries[0]?.["runId"];
    return { runId: typeof runId === "string" ? runId : fallback, entries: content.entries };
  }
  if (content.kind === "dag")
    return { runId: fallback, entries: dagToLog(fallback, content.dag, file.lastModified) };
  const saved: SavedTrace = readSavedTrace(content.trace, diagram);
  const runId = saved.runId === "" ? fallback : saved.runId;
  return { runId, entries: traceToLog({ ...saved, runId }, diagram ?? planOfTrace(saved)) };
}

/** Returns entries by number. Numbers a log with missing parts again. */
function numbered(entries: readonly LogEntry[]): readonly LogEntry[] {
  return [...entries].sort((a, b) => a.n - b.n).map((entry, n) => ({ ...entry, n }));
}

function stemOf(name: string): string {
  return name.replace(/(?:\.trace|\.dag|\.log)?\.jsonl?$/i, "");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isEntry(value: unknown): value is LogEntry {
  // Any value; its fields are checked next.
  const { n, at, type } = (value ?? {}) as Partial<LogEntry>;
  return typeof n === "number" && typeof at === "string" && typeof type === "string";
}

const LISTS = ["tasks", "agents", "edges", "parallelGroups", "criticalPath"] as const;
const TEXTS = ["id", "description", "agentRole"] as const;

function isDag(value: unknown): value is Dag {
  const dag = (value ?? {}) as Partial<Dag>; // checked here
  return (
    dag.type === "dag" &&
    LISTS.every((name) => Array.isArray(dag[name])) &&
    (dag.tasks ?? []).every(
      (task) =>
        TEXTS.every((name) => typeof task[name] === "string") && Array.isArray(task.dependsOn),
    )
  );
}
