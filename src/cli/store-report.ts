import { fileURLToPath } from "node:url";
import { resolve } from "node:path";
import type { KeptRuns } from "../contracts/journal.js";
import type { Paint } from "../plugins/observability/console/terminal-text.js";
import type { OutputTerminal } from "./terminal.js";
import type { Store } from "./store.js";
import { JournalError } from "../contracts/journal-errors.js";
import { isWritableFolder } from "../util/files/writable-folder.js";
import { printableLine } from "../util/printable.js";
import { counted } from "../util/text.js";
import { errorJson, errorText } from "./report-error.js";

const PAGE = 1_000;

/** The result of `agentensemble doctor` for a store. */
export interface StoreReport {
  readonly store: string;
  /** The reason why the store can't be used. */
  readonly error?: unknown;
  /**
   * The number of runs, and the number of unfinished runs that no process executes. Absent for an
   * unusable store.
   */
  readonly runs?: { readonly total: number; readonly withoutProcess: number } | undefined;
}

/** Opens the store, reads it, and checks the permission to change it, without changing a run. */
export async function examineStore(store: Store): Promise<StoreReport> {
  const { shown } = store;
  try {
    checkRunFolder(store);
    const runs = await store.use(async (kept) => {
      await kept.cancel("doctor: there is no such run\u0000"); // an update of no row
      return countRuns(kept);
    });
    return { store: shown, runs };
  } catch (error) {
    return { store: shown, error };
  }
}

/** @throws JournalError for a folder that can't be written. */
function checkRunFolder({ access: { url } }: Store): void {
  const [, slashes, path] = /^file:(\/\/(?=\/))?(.+)$/s.exec(url) ?? [];
  if (path === undefined) return;
  const folder = slashes === undefined ? resolve(path) : fileURLToPath(url);
  if (isWritableFolder(folder)) return;
  throw new JournalError(`${folder} can't be written`, {
    hint: "Choose another folder with --store, or allow this user to write there.",
  });
}

async function countRuns(kept: KeptRuns): Promise<NonNullable<StoreReport["runs"]>> {
  let total = 0;
  let withoutProcess = 0;
  for (let after: string | undefined, isFirst = true; isFirst || after !== undefined;) {
    const page = await kept.list({ limit: PAGE, ...(after !== undefined && { after }) });
    total += page.runs.length;
    withoutProcess += page.runs.filter(
      ({ status, owner }) => status === "running" && owner === undefined,
    ).length;
    after = page.next;
    isFirst = false;
  }
  return { total, withoutProcess };
}

export function storeJson({ error, ...report }: StoreReport): unknown {
  return error === undefined ? report : { ...report, error: errorJson(error) };
}

export function storeText(report: StoreReport, terminal: OutputTerminal, paint: Paint): string {
  const { error, runs = { total: 0, withoutProcess: 0 } } = report;
  const lines =
    error === undefined
      ? `  ${paint("green", "ok     ")} ${printableLine(report.store)}: ${counted(runs.total, "run")}, ${runs.withoutProcess} of them without the process that executed them`
      : errorText(error, terminal);
  return ["", paint("bold", "Store"), lines].join("\n");
}
