import type { FileHandle } from "node:fs/promises";
import type { RunSummary } from "../../../../contracts/run-store.js";
import { writeFileAtomically } from "../../../../util/files/atomic-write.js";
import { eachLine, lineAt } from "../../../../util/files/lines.js";
import { openFileAt } from "../../../../util/files/open-file.js";
import { writeFully } from "../../../../util/files/write-fully.js";
import { parseJson } from "../../../../util/json/parse-json.js";
import { asFields } from "../../../../util/objects.js";
import { uuidGenerator } from "../../../../util/runtime.js";
import { asSummary } from "./summary-form.js";

const FORMAT = "agentensemble/run-index";
const VERSION = 1;
/** Number of changes after which the file is rewritten. */
const CHANGES = 1_000;

/** A change: a summary, or the id of a removed run. */
interface IndexLine {
  readonly run?: unknown;
  readonly removed?: unknown;
}

/**
 * The summaries of a folder, in `index.jsonl`. The file has a head with a random id, then one line
 * for each change. The last line of a run is valid. A reader reads the lines after its last
 * position.
 */
export class RunIndex {
  readonly path: string;
  readonly #runs = new Map<string, RunSummary>();
  /** Whether the file is missing, has another head, or has invalid lines. */
  isDamaged = false;
  /** Id of the last read file, and the position after its last read line. */
  #id: string | undefined;
  #end = 0;
  #changes = 0;
  /** Whether the bytes after `#end` may be an incomplete line. */
  #isTorn = false;

  constructor(path: string) {
    this.path = path;
  }

  get runs(): ReadonlyMap<string, RunSummary> {
    return this.#runs;
  }

  /** Reads the changes since the last call. @throws errors of the file system. */
  async refresh(): Promise<void> {
    const file = await openFileAt(this.path, "read");
    try {
      const id = file === undefined ? undefined : await indexIdOf(file);
      const isShorter = file !== undefined && (await file.stat()).size < this.#end;
      if (id === undefined || id !== this.#id || isShorter) this.#reset(id);
      if (file === undefined || id === undefined) this.isDamaged = true;
      else await this.#read(file);
    } finally {
      await file?.close();
    }
  }

  /** Adds or replaces a summary. Writes nothing if it throws. */
  async put(run: RunSummary): Promise<void> {
    await this.#change({ run });
  }

  async remove(runId: string): Promise<void> {
    if (this.#runs.has(runId)) await this.#change({ removed: runId });
  }

  /** Writes a new file with these summaries. It replaces the old one atomically. */
  async rewrite(runs: ReadonlyMap<string, RunSummary>): Promise<void> {
    const id = uuidGenerator.next();
    const kept = new Map(runs);
    await writeFileAtomically(this.path, indexLines(id, kept.values()));
    this.#reset(id);
    for (const [runId, run] of kept) this.#runs.set(runId, run);
    const file = await openFileAt(this.path, "read");
    this.#end = (await file?.stat())?.size ?? 0;
    await file?.close();
  }

  async #change(line: IndexLine): Promise<void> {
    const file =
      this.#isTorn || this.#changes + 1 >= CHANGES
        ? undefined
        : await openFileAt(this.path, "write");
    if (file === undefined) {
      const runs = new Map(this.#runs);
      applyTo(runs, line);
      return this.rewrite(runs);
    }
    try {
      const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
      this.#isTorn = true;
      await writeFully(file, bytes, this.#end);
      this.#isTorn = false;
      this.#end += bytes.length;
    } finally {
      await file.close();
    }
    this.#changes++;
    applyTo(this.#runs, line);
  }

  #reset(id: string | undefined): void {
    this.#runs.clear();
    this.#id = id;
    this.#end = 0;
    this.#changes = 0;
    this.#isTorn = false;
    this.isDamaged = false;
  }

  async #read(file: FileHandle): Promise<void> {
    let isHead = this.#end === 0;
    this.#end = await eachLine(
      file,
      ({ text }) => {
        if (!isHead && !applyTo(this.#runs, asFields(parseJson(text)) ?? {})) this.isDamaged = true;
        if (!isHead) this.#changes++;
        isHead = false;
      },
      this.#end,
    );
  }
}

/** Applies a line. Returns false for a line of another form. */
function applyTo(runs: Map<string, RunSummary>, line: IndexLine): boolean {
  const run = asSummary(line.run);
  if (run !== undefined) runs.set(run.runId, run);
  else if (typeof line.removed === "string") runs.delete(line.removed);
  else return false;
  return true;
}

function* indexLines(id: string, runs: Iterable<RunSummary>): Generator<string> {
  yield `${JSON.stringify({ format: FORMAT, version: VERSION, id })}\n`;
  for (const run of runs) yield `${JSON.stringify({ run })}\n`;
}

/** Returns the id in the head of the file. Returns `undefined` for a file of another form. */
async function indexIdOf(file: FileHandle): Promise<string | undefined> {
  const head = asFields(parseJson(await lineAt(file, 0)));
  const { format, version, id } = head ?? {};
  return format === FORMAT && version === VERSION && typeof id === "string" ? id : undefined;
}
