import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { ChatResponse } from "../../contracts/chat-model.js";
import { ValidationError } from "../../contracts/errors.js";
import { FileFormatError } from "../../contracts/state-errors.js";
import { preview } from "../../contracts/validation.js";
import { messageOf } from "../../util/errors.js";
import { eachLine } from "../../util/files/lines.js";
import { makeFolder } from "../../util/files/make-folder.js";
import { writeFully } from "../../util/files/write-fully.js";
import { asFields } from "../../util/objects.js";

const FORMAT = "agentensemble-responses";
const VERSION = 1;
/** Access for the owner only: responses may contain the contents of prompts. */
const MODE = 0o600;

/** The position of a line in the file. */
interface ResponsePlace {
  readonly start: number;
  readonly end: number;
}

/**
 * Responses by the content of their requests, one JSON document in each line. Only the positions of
 * the lines are in memory. One process writes at a time.
 */
export class ResponseFile {
  readonly path: string;
  readonly #places = new Map<string, ResponsePlace>();
  readonly #users = new Set<object>();
  /** Serializes opening and closing. */
  #turn: Promise<void> = Promise.resolve();
  #file: FileHandle | undefined;
  #end = 0;
  #writing: Promise<void> = Promise.resolve();
  #failure: unknown;

  constructor(path: string) {
    this.path = resolve(path);
  }

  /**
   * Opens the file for a user. Creates a missing file. Removes an incomplete last line.
   * @throws ValidationError, FileFormatError
   */
  open(user: object): Promise<void> {
    this.#users.add(user);
    return this.#inTurn(async () => {
      try {
        if (this.#file === undefined) await this.#open();
      } catch (error) {
        this.#users.delete(user);
        throw error;
      }
    });
  }

  has(key: string): boolean {
    return this.#places.has(key);
  }

  /** Returns the response of a key. Returns `undefined` if there is none. */
  async get(key: string): Promise<ChatResponse | undefined> {
    const place = this.#places.get(key);
    if (place === undefined || this.#file === undefined) return undefined;
    await this.#writing;
    const bytes = Buffer.alloc(place.end - place.start);
    await this.#file.read(bytes, 0, bytes.length, place.start);
    const line = asFields(JSON.parse(bytes.toString("utf8")));
    // `add` wrote the line.
    return line?.["key"] === key ? (line["response"] as ChatResponse) : undefined;
  }

  /** Adds a response. Errors are reported by `flush`. */
  add(key: string, response: ChatResponse): void {
    if (this.#places.has(key)) return;
    this.#append({ key, response }, key);
  }

  /**
   * Resolves when all responses so far are in the file.
   * @throws ValidationError after a failed write
   */
  async flush(): Promise<void> {
    await this.#writing;
    if (this.#failure === undefined) return;
    throw new ValidationError(
      `The recordings '${preview(this.path)}' can't be written: ${messageOf(this.#failure)}`,
      { cause: this.#failure },
    );
  }

  /** Closes the file after its last user. */
  async close(user: object): Promise<void> {
    if (this.#users.delete(user))
      await this.#inTurn(async () => {
        if (this.#users.size === 0) await this.#close();
      });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined); // the caller receives the error
    return turn;
  }

  async #open(): Promise<void> {
    try {
      await makeFolder(dirname(this.path));
      // Not supported on Windows.
      const noFollow = (constants as { readonly O_NOFOLLOW?: number }).O_NOFOLLOW ?? 0;
      this.#file = await open(this.path, constants.O_RDWR | constants.O_CREAT | noFollow, MODE);
    } catch (cause) {
      throw new ValidationError(
        `The recordings '${preview(this.path)}' can't be opened: ${messageOf(cause)}`,
        { cause },
      );
    }
    try {
      await this.#load(this.#file);
    } catch (error) {
      await this.#close();
      throw error;
    }
  }

  async #close(): Promise<void> {
    await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
    this.#places.clear();
  }

  async #load(file: FileHandle): Promise<void> {
    let line = 0;
    this.#end = await eachLine(file, ({ text, start, end }) => {
      line++;
      const fields = fieldsOfLine(text);
      if (line === 1) this.#checkHeader(fields);
      else if (typeof fields?.["key"] === "string") this.#places.set(fields["key"], { start, end });
      else throw this.#malformed(`line ${line} is not a response`, line);
    });
    await file.truncate(this.#end);
    if (line === 0) this.#append({ format: FORMAT, version: VERSION }, undefined);
  }

  #checkHeader(fields: ReturnType<typeof fieldsOfLine>): void {
    if (fields?.["format"] === FORMAT && fields["version"] === VERSION) return;
    throw this.#malformed("it has no recordings of evaluations, or those of another version", 1);
  }

  #malformed(problem: string, line: number): FileFormatError {
    return new FileFormatError(`${this.path}: ${problem}`, { path: this.path, line });
  }

  #append(value: object, key: string | undefined): void {
    const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
    const start = this.#end;
    this.#end += bytes.length;
    if (key !== undefined) this.#places.set(key, { start, end: this.#end });
    this.#writing = this.#writing.then(async () => {
      if (this.#file === undefined || this.#failure !== undefined) return;
      try {
        await writeFully(this.#file, bytes, start);
      } catch (error) {
        this.#failure = error;
      }
    });
  }
}

function fieldsOfLine(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return asFields(JSON.parse(text));
  } catch {
    return undefined;
  }
}
