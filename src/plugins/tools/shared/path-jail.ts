import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { ValidationError } from "../../../contracts/errors.js";
import {
  checkOptions,
  preview,
  requireInteger,
  requireText,
} from "../../../contracts/validation.js";
import { isMissing } from "./jail-errors.js";
import { openAt, readBytes, statFile } from "./jail-reading.js";
import { JailRoot } from "./jail-root.js";
import { JailWriter } from "./jail-writing.js";
import { leadsIntoGit } from "./path-text.js";

/** How a path jail is set up. */
export interface PathJailOptions {
  /** What the messages call the folder: `path is outside the {name} directory`. Default `sandbox`. */
  readonly name?: string | undefined;
  /** The most bytes that one call reads or writes. Default 1,048,576. */
  readonly maxBytes?: number | undefined;
}

/** Which part of a file to read. */
export interface JailReadOptions {
  /** First byte, from 0. Default 0. */
  readonly offset?: number | undefined;
  /** How many bytes at most, and never more than the jail's `maxBytes`. Default: all; then a larger file is an error instead of being cut. */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A file, or a part of it, as it was read. */
export interface JailedFile {
  readonly bytes: Uint8Array;
  /** Bytes of the whole file. */
  readonly size: number;
  /** Below the root, with `/` between the names. */
  readonly relativePath: string;
  /** For `expectedVersion` of a later write. */
  readonly version: string;
}

/** How to write a file. */
export interface JailWriteOptions {
  /** The `version` that was read: if the file has changed since, nothing is written. Default: whatever is there is replaced. */
  readonly expectedVersion?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What came of a write. */
export interface JailWriteResult {
  /** Whether there was no such file before. */
  readonly created: boolean;
  readonly relativePath: string;
}

/**
 * A folder that paths from outside cannot leave: neither by `..` or an absolute path nor by symbolic links, also when somebody puts a link in their
 * way at that very moment. Absolute paths inside are taken. What lies at the end of a path is a regular file or refused.
 * All methods throw AccessDeniedError for what is forbidden and FileAccessError for what is allowed but cannot be done.
 */
export interface PathJail {
  /** The real path of the folder. */
  readonly root: string;
  /** The most bytes that one call reads or writes. */
  readonly maxBytes: number;
  /** The real path of a regular file that is there. To read it, use `read` or `open`: between this and an opening of your own the file may be swapped. */
  resolveForReading(path: string): Promise<string>;
  /** The real path at which a file would be written. Makes nothing. */
  resolveForWriting(path: string): Promise<string>;
  /** Opens a regular file for reading, of whatever size. The caller closes it. */
  open(path: string): Promise<FileHandle>;
  read(path: string, options?: JailReadOptions): Promise<JailedFile>;
  /** Writes a file whole or not at all, making the folders on the way to it. A file that is there is replaced and keeps its rights. */
  write(
    path: string,
    content: string | Uint8Array,
    options?: JailWriteOptions,
  ): Promise<JailWriteResult>;
}

/** 1 MiB: some 250,000 tokens. */
const DEFAULT_MAX_BYTES = 1_048_576;

/** Time for one call of a tool that works on single files, in milliseconds: a disk that does not answer, or a file without end, must not hold its task. */
export const FILE_CALL_MS = 30_000;

/** A jail with the parts that only the built-in tools use. */
export class FolderJail implements PathJail {
  readonly maxBytes: number;
  readonly base: JailRoot;
  readonly #writer: JailWriter;
  readonly #guardsGit: boolean;

  /** @param guardsGit whether nothing is written into a folder `.git`: what lies there makes git run programs, also when somebody calls it later. */
  constructor(base: JailRoot, maxBytes: number, guardsGit = false) {
    this.base = base;
    this.maxBytes = maxBytes;
    this.#guardsGit = guardsGit;
    this.#writer = new JailWriter(base);
  }

  get root(): string {
    return this.base.path;
  }

  async resolveForReading(path: string): Promise<string> {
    const place = await this.base.place(path);
    await (await openAt(this.base, place)).handle.close();
    return join(place.folder, place.name);
  }

  async resolveForWriting(path: string): Promise<string> {
    const { folder, missing, name, shown } = await this.base.place(path);
    if (name === "") throw this.base.errors.notAFile(shown);
    if (missing.length === 0) await this.#checkTarget(folder, name, shown);
    return join(folder, ...missing, name);
  }

  async #checkTarget(path: string, name: string, shown: string): Promise<void> {
    const folder = await this.base.folder(path, shown);
    try {
      await statFile(this.base, folder, name, shown);
    } catch (e) {
      if (!isMissing(e)) throw this.base.errors.system("write", shown, e);
    } finally {
      await folder.close();
    }
  }

  async open(path: string): Promise<FileHandle> {
    return (await openAt(this.base, await this.base.place(path))).handle;
  }

  async read(path: string, { offset, limit, signal }: JailReadOptions = {}): Promise<JailedFile> {
    requireInteger("read() offset", offset, 0);
    requireInteger("read() limit", limit, 0);
    const place = await this.base.place(path);
    const { handle, size, version } = await openAt(this.base, place);
    try {
      const whole = offset === undefined && limit === undefined;
      if (whole && size > this.maxBytes) throw this.base.errors.tooLarge(path, size, this.maxBytes);
      const most = whole ? this.maxBytes + 1 : Math.min(limit ?? this.maxBytes, this.maxBytes);
      const bytes = await readBytes(handle, offset ?? 0, most, signal);
      if (whole && bytes.length > this.maxBytes)
        throw this.base.errors.tooLarge(path, bytes.length, this.maxBytes); // it has grown meanwhile
      return { bytes, size, relativePath: place.relativePath, version };
    } catch (e) {
      if (signal?.aborted === true) throw signal.reason;
      throw this.base.errors.system("read", path, e);
    } finally {
      await handle.close();
    }
  }

  async write(
    path: string,
    content: string | Uint8Array,
    { expectedVersion, signal }: JailWriteOptions = {},
  ): Promise<JailWriteResult> {
    const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : content;
    if (bytes.length > this.maxBytes)
      throw this.base.errors.tooLarge(path, bytes.length, this.maxBytes);
    const place = await this.base.place(path);
    if (this.#guardsGit && leadsIntoGit(place.relativePath))
      throw this.base.errors.denied("nothing is written into .git");
    const created = await this.#writer.write({ place, bytes, expectedVersion, signal });
    return { created, relativePath: place.relativePath };
  }
}

/** As {@link pathJail}, for the built-in tools. */
export function folderJail(
  root: string,
  { name = "sandbox", maxBytes = DEFAULT_MAX_BYTES }: PathJailOptions = {},
  guardsGit = true,
): FolderJail {
  if (typeof root !== "string" || root.trim() === "")
    throw new ValidationError(`baseDir must be an existing directory: ${preview(root)}`);
  requireText(name, "pathJail() name must not be blank");
  requireInteger("maxBytes", maxBytes, 1);
  return new FolderJail(new JailRoot(root, name), maxBytes, guardsGit);
}

/**
 * Makes a jail of a folder, for tools of your own that take paths from a model.
 *
 * @example
 * const jail = pathJail("./workspace");
 * const { bytes } = await jail.read(pathFromModel);
 * await jail.write("reports/summary.md", text);
 * @throws ValidationError when there is no such folder, or for a wrong option.
 */
export function pathJail(root: string, options: PathJailOptions = {}): PathJail {
  checkOptions("pathJail()", options, ["name", "maxBytes"]);
  return folderJail(root, options, false);
}
