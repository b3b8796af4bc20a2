import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../support/temporary-folder.js";

/** What the workers of a chaos test have written. */
export class ChaosLog {
  readonly path = join(temporaryFolder(), "log");

  constructor() {
    writeFileSync(this.path, "");
  }

  /** Executions that have begun. */
  get started(): number {
    return this.#ids("started").length;
  }

  /** Executions beyond the first of each request. */
  get startedAgain(): number {
    const ids = this.#ids("started");
    return ids.length - new Set(ids).size;
  }

  /** The ids with more than one result that a store has accepted. */
  get recordedTwice(): readonly string[] {
    const seen = new Set<string>();
    return this.#ids("finished", "recorded").filter((id) => {
      const isKnown = seen.has(id);
      seen.add(id);
      return isKnown;
    });
  }

  #ids(what: string, how?: string): readonly string[] {
    return readFileSync(this.path, "utf8")
      .split("\n")
      .map((line) => line.split(" "))
      .filter(([kind, , end]) => kind === what && end === how)
      .map(([, id = ""]) => id);
  }
}
