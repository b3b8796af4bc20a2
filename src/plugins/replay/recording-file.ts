import type { FileHandle } from "node:fs/promises";
import { open, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { HeaderLine } from "./recording-format.js";
import { ValidationError, messageOf } from "../../contracts/errors.js";
import { makeFolder } from "../../kernel/index.js";
import { RECORDING_FORMAT, RECORDING_VERSION } from "./recording-format.js";

const MAX_UNFINISHED = 100;

/**
 * Writes the lines of a recording, in the background and in order. They go into a file of their own beside the target until the first run has ended;
 * only then does it take the target's place, so that a program that breaks off leaves the last good recording alone.
 */
export class RecordingFile {
  readonly #target: string;
  #handle: FileHandle | undefined;
  #unfinished: string | undefined;
  #lines: (() => string)[] = [];
  #texts: string[] = [];
  #writing: Promise<void> = Promise.resolve();
  #scheduled = false;
  #making = false;
  #failure: unknown;

  constructor(path: string) {
    this.#target = resolve(path);
  }

  /** Makes the folder and the file. @throws ValidationError naming the path. */
  async open(): Promise<void> {
    try {
      await makeFolder(dirname(this.#target));
      await this.#checkTarget();
      await this.#create();
    } catch (error) {
      throw this.#refusal(error);
    }
    const header: HeaderLine = { format: RECORDING_FORMAT, version: RECORDING_VERSION };
    this.append(() => JSON.stringify(header));
  }

  /** Adds a line, which is made and written soon. While it is made it may add others, which come before it. */
  append(line: () => string): void {
    if (this.#making) {
      this.#texts.push(line());
      return;
    }
    this.#lines.push(line);
    this.#schedule();
  }

  /** One line at a time, so that nobody waits long. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#makeNext();
      if (this.#lines.length > 0) this.#schedule();
      else void this.#write();
    });
  }

  #makeNext(): void {
    const line = this.#lines.shift();
    if (line === undefined) return;
    this.#making = true;
    try {
      this.#texts.push(line());
    } catch (error) {
      this.#failure ??= error; // told by flush()
    } finally {
      this.#making = false;
    }
  }

  /** Everything so far is on the disk, and the file bears its name. @throws ValidationError where writing failed, the first time it is asked. */
  async flush(): Promise<void> {
    await this.#write();
    const unfinished = this.#unfinished;
    if (this.#failure === undefined && unfinished !== undefined && this.#handle !== undefined) {
      this.#unfinished = undefined;
      try {
        await this.#handle.sync();
        await rename(unfinished, this.#target);
      } catch (error) {
        this.#failure = error;
      }
    }
    if (this.#failure !== undefined) throw this.#refusal(this.#failure);
  }

  /** Ends the file; one in which no run ended is removed. */
  async close(): Promise<void> {
    const handle = this.#handle;
    if (handle === undefined) return;
    await this.#write();
    this.#handle = undefined;
    await handle.close();
    if (this.#unfinished !== undefined) await rm(this.#unfinished, { force: true });
  }

  /** What is there will be replaced, which must not be found out when everything has been paid for. */
  async #checkTarget(): Promise<void> {
    const there = await stat(this.#target).catch(() => undefined); // nothing, or nothing that can be looked at: it is replaced without being opened
    if (there?.isDirectory() === true) throw new Error("it is a folder");
    if (there?.isFile() === false) throw new Error("it is no regular file");
  }

  async #create(): Promise<void> {
    for (let n = 0; ; n++) {
      const path = `${this.#target}.${process.pid}-${n}.part`;
      try {
        this.#handle = await open(path, "wx");
        this.#unfinished = path;
        return;
      } catch (error) {
        // A kernel of this process is writing there, or a process of the same number broke off.
        if ((error as { readonly code?: unknown }).code !== "EEXIST" || n >= MAX_UNFINISHED)
          throw error;
      }
    }
  }

  #write(): Promise<void> {
    while (this.#lines.length > 0) this.#makeNext();
    const texts = this.#texts;
    if (texts.length === 0) return this.#writing;
    this.#texts = [];
    this.#writing = this.#writing.then(async () => {
      if (this.#failure !== undefined) return; // what follows a gap would be worthless
      try {
        await this.#handle?.appendFile(`${texts.join("\n")}\n`, "utf8");
      } catch (error) {
        this.#failure = error; // told by flush()
      }
    });
    return this.#writing;
  }

  #refusal(cause: unknown): ValidationError {
    return new ValidationError(
      `The recording can't be written to '${this.#target}': ${messageOf(cause)}`,
      {
        cause,
        hint: "Choose the path of a file that this process may write to.",
      },
    );
  }
}
