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

/** Options of {@link pathJail}. */
export interface PathJailOptions {
  /**
   * The name of the folder in messages: `path is outside the {name} directory`. Default `sandbox`.
   */
  readonly name?: string | undefined;
  /** Limit of the bytes per read or write. Default 1,048,576. */
  readonly maxBytes?: number | undefined;
}

/** The part of a file to read. */
export interface JailReadOptions {
  /** First byte, counted from 0. Default 0. */
  readonly offset?: number | undefined;
  /**
   * Limit of the read bytes, at most the jail's `maxBytes`. Default: the whole file is read, and a
   * file above `maxBytes` is an error.
   */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The content of a file, or of a part of it. */
export interface JailedFile {
  readonly bytes: Uint8Array;
  /** Size of the whole file in bytes. */
  readonly size: number;
  /** Path below the root, with `/` as separator. */
  readonly relativePath: string;
  /** Value for the `expectedVersion` of a later write. */
  readonly version: string;
}

/** Options of a write. */
export interface JailWriteOptions {
  /**
   * The `version` of an earlier read. If the file has changed since that read, nothing is written.
   * Default: an existing file is replaced.
   */
  readonly expectedVersion?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Result of a write. */
export interface JailWriteResult {
  /** Whether the file did not exist before. */
  readonly created: boolean;
  readonly relativePath: string;
}

/**
 * A folder that paths from untrusted input can't leave by `..`, an absolute path or symbolic links.
 * This also holds if another process inserts a link during the call. Absolute paths inside the
 * folder are accepted. Only regular files are opened. All methods throw AccessDeniedError for a
 * forbidden path and FileAccessError for an allowed operation that fails.
 */
export interface PathJail {
  /** The real path of the folder. */
  readonly root: string;
  /** Limit of the bytes per read or write. */
  readonly maxBytes: number;
  /**
   * Returns the real path of an existing regular file. To read the file, use `read` or `open`,
   * because it could be replaced before you open the path.
   */
  resolveForReading(path: string): Promise<string>;
  /** Returns the real path at which a file would be written. Creates nothing. */
  resolveForWriting(path: string): Promise<string>;
  /** Opens a regular file of any size for reading. The caller closes it. */
  open(path: string): Promise<FileHandle>;
  read(path: string, options?: JailReadOptions): Promise<JailedFile>;
  /**
   * Writes a file atomically and creates missing folders. A file that exists is replaced and keeps
   * its permissions.
   */
  write(
    path: string,
    content: string | Uint8Array,
    options?: JailWriteOptions,
  ): Promise<JailWriteResult>;
}

/** 1 MiB: about 250,000 tokens. */
const DEFAULT_MAX_BYTES = 1_048_576;

/**
 * Time limit in milliseconds for one call of a tool that works on single files. A disk that does
 * not respond, or an endless file, must not block the task.
 */
export const FILE_CALL_MS = 30_000;

/** A jail with the parts that only the built-in tools use. */
export class FolderJail implements PathJail {
  readonly maxBytes: number;
  readonly base: JailRoot;
  readonly #writer: JailWriter;
  readonly #guardsGit: boolean;

  /**
   * @param guardsGit whether writes into a folder `.git` are rejected. Later git calls could run
   * programs from files there.
   */
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
        // the file has grown since its size was read
        throw this.base.errors.tooLarge(path, bytes.length, this.maxBytes);
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

/** Like {@link pathJail}, for the built-in tools. */
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
 * Creates a jail for custom tools that receive paths from a model.
 *
 * @example const jail = pathJail("./workspace"); const { bytes } = await jail.read(pathFromModel);
 * await jail.write("reports/summary.md", text);
 * @throws ValidationError if the folder does not exist, or for an invalid option.
 */
export function pathJail(root: string, options: PathJailOptions = {}): PathJail {
  checkOptions("pathJail()", options, ["name", "maxBytes"]);
  return folderJail(root, options, false);
}
