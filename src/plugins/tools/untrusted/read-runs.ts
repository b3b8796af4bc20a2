import type { HookRun } from "../../../contracts/run.js";

/** Which runs have read text from outside, and by which tool first. What a joined run read, the run it joined has read as well. */
export class ReadRuns {
  readonly #sources = new WeakMap<HookRun, string>();

  add(run: HookRun, tool: string): void {
    for (let r: HookRun | undefined = run; r !== undefined; r = r.parent)
      if (!this.#sources.has(r)) this.#sources.set(r, tool);
  }

  /** The tool through which this run, or one that it joined, first read such text. */
  sourceOf(run: HookRun): string | undefined {
    for (let r: HookRun | undefined = run; r !== undefined; r = r.parent) {
      const source = this.#sources.get(r);
      if (source !== undefined) return source;
    }
    return undefined;
  }
}
