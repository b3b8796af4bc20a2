import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../support/temporary-folder.js";

/** The records of the workers of a chaos test in one file. */
export class ChaosLog {
  readonly path = join(temporaryFolder(), "log");
  readonly #file = openSync(this.path, "a+");
  readonly #buffer = Buffer.alloc(1 << 16);
  readonly #executed = new Set<string>();
  readonly #recorded = new Set<string>();
  readonly #recordedTwice: string[] = [];
  readonly #kept = new Set<string>();
  readonly #paidAgain: string[] = [];
  #at = 0;
  #rest = "";
  #started = 0;

  /** Started executions. */
  get started(): number {
    this.#read();
    return this.#started;
  }

  /** Executions beyond the first of each request. */
  get startedAgain(): number {
    this.#read();
    return this.#started - this.#executed.size;
  }

  /** Repeated calls of handlers whose result was in the journal. */
  get paidAgain(): readonly string[] {
    this.#read();
    return this.#paidAgain;
  }

  /** The ids with more than one result that a store has accepted. */
  get recordedTwice(): readonly string[] {
    this.#read();
    return this.#recordedTwice;
  }

  close(): void {
    closeSync(this.#file);
  }

  /** Reads the lines that were written since the last call. */
  #read(): void {
    for (;;) {
      const length = readSync(this.#file, this.#buffer, 0, this.#buffer.length, this.#at);
      if (length === 0) return;
      this.#at += length;
      const lines = (this.#rest + this.#buffer.toString("latin1", 0, length)).split("\n");
      this.#rest = lines.pop() ?? "";
      for (const line of lines) this.#take(line);
    }
  }

  #take(line: string): void {
    const [what, id = "", how] = line.split(" ");
    if (what === "started") {
      this.#started++;
      this.#executed.add(id);
    } else if (what === "kept") this.#kept.add(id);
    else if (what === "call") {
      if (this.#kept.has(id)) this.#paidAgain.push(id);
    } else if (how === "recorded") {
      if (this.#recorded.has(id)) this.#recordedTwice.push(id);
      this.#recorded.add(id);
    }
  }
}
