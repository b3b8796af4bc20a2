import type { RunInfo } from "../../../contracts/run.js";

/** Which runs have read text from outside, and by which tool first. What a joined run read, the run it joined has read as well. */
export class ReadRuns {
  readonly #sources = new WeakMap<RunInfo, string>();

  constructor(readonly parentOf: (run: RunInfo) => RunInfo | undefined) {}

  add(run: RunInfo, tool: string): void {
    for (let r: RunInfo | undefined = run; r !== undefined; r = this.parentOf(r))
      if (!this.#sources.has(r)) this.#sources.set(r, tool);
  }

  /** The tool through which this run, or one that it joined, first read such text. */
  sourceOf(run: RunInfo): string | undefined {
    for (let r: RunInfo | undefined = run; r !== undefined; r = this.parentOf(r)) {
      const source = this.#sources.get(r);
      if (source !== undefined) return source;
    }
    return undefined;
  }
}
