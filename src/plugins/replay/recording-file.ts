import { resolve } from "node:path";
import type { HeaderLine } from "./recording-format.js";
import { ValidationError } from "../../contracts/errors.js";
import { DraftFile } from "../../util/files/atomic-write.js";
import { RECORDING_FORMAT, RECORDING_VERSION } from "./recording-format.js";
import { messageOf } from "../../util/errors.js";
import { uuidGenerator } from "../../util/runtime.js";

/**
 * Returns the path of the unfinished file, which messages show. A program that crashes leaves this
 * file. It can be replayed.
 */
function partPath(target: string, n: number): string {
  return `${target}.${process.pid}-${n}.part`;
}

/**
 * Writes the lines of a recording in the background and in order. They are written to a separate
 * file next to the target. This file replaces the target when the first run has ended. A program
 * that crashes therefore does not damage the last complete recording.
 */
export class RecordingFile {
  readonly #target: string;
  #draft: DraftFile | undefined;
  #isPublished = false;
  #lines: (() => string)[] = [];
  #texts: string[] = [];
  #writing: Promise<void> = Promise.resolve();
  #scheduled = false;
  #making = false;
  #failure: unknown;
  /** The salt of the hashes in the file. */
  readonly salt = uuidGenerator.next();

  constructor(path: string) {
    this.#target = resolve(path);
  }

  /** Creates the folder and the file. @throws ValidationError naming the path. */
  async open(): Promise<void> {
    try {
      this.#draft = await DraftFile.create(this.#target, partPath);
    } catch (error) {
      throw this.#refusal(error);
    }
    const header: HeaderLine = {
      format: RECORDING_FORMAT,
      version: RECORDING_VERSION,
      salt: this.salt,
    };
    this.append(() => JSON.stringify(header));
  }

  /**
   * Adds a line, which is created and written later. Its creation may add other lines, which
   * precede it.
   */
  append(line: () => string): void {
    if (this.#making) {
      this.#texts.push(line());
      return;
    }
    this.#lines.push(line);
    this.#schedule();
  }

  /** Prepares one line per turn of the event loop, so other work is not delayed. */
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
      this.#failure ??= error; // flush() reports it
    } finally {
      this.#making = false;
    }
  }

  /**
   * Resolves when all lines are on disk under the final name.
   * @throws ValidationError after a failed write, at the first call.
   */
  async flush(): Promise<void> {
    await this.#write();
    if (this.#failure === undefined && !this.#isPublished && this.#draft !== undefined) {
      this.#isPublished = true;
      try {
        await this.#draft.publish();
      } catch (error) {
        this.#failure = error;
      }
    }
    if (this.#failure !== undefined) throw this.#refusal(this.#failure);
  }

  /** Closes the file. Removes it if no run has ended. */
  async close(): Promise<void> {
    const draft = this.#draft;
    if (draft === undefined) return;
    await this.#write();
    this.#draft = undefined;
    await (this.#isPublished ? draft.handle.close() : draft.discard());
  }

  #write(): Promise<void> {
    while (this.#lines.length > 0) this.#makeNext();
    const texts = this.#texts;
    if (texts.length === 0) return this.#writing;
    this.#texts = [];
    this.#writing = this.#writing.then(async () => {
      if (this.#failure !== undefined) return; // lines after a gap are useless
      try {
        await this.#draft?.handle.appendFile(`${texts.join("\n")}\n`, "utf8");
      } catch (error) {
        this.#failure = error; // flush() reports it
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
