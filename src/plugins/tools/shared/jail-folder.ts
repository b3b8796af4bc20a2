import { constants, existsSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { lstat, mkdir, open, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { JailErrors } from "./jail-errors.js";
import { codeOf } from "../../../util/objects.js";

// Windows lacks some of them; they are then worth nothing.
const {
  O_DIRECTORY = 0,
  O_NOFOLLOW = 0,
  O_NONBLOCK = 0,
  O_RDONLY,
  O_WRONLY,
  O_CREAT,
  O_EXCL,
} = constants as Partial<typeof constants> &
  Pick<typeof constants, "O_RDONLY" | "O_WRONLY" | "O_CREAT" | "O_EXCL">;

/** Whether folders can be held fast: Linux leads from an open folder to what lies in it, whatever becomes of the path that led there. */
export function canHoldFolders(): boolean {
  return process.platform === "linux" && existsSync("/proc/self/fd");
}

/** What lies at a name. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: "file" | "directory" | "other";
}

/** What is looked up about a file; big integers, because inode numbers may be. */
export type FileStats = Awaited<ReturnType<typeof statOf>>;

async function statOf(path: string) {
  return lstat(path, { bigint: true });
}

/**
 * A folder within the jail, reached without following a link. Where folders can be held, all that happens in it happens in the very folder that was
 * opened; elsewhere the path is looked at again after each opening, which leaves a moment between look and deed.
 */
export class JailFolder {
  /** The real path. */
  readonly path: string;
  readonly #handle: FileHandle | undefined;
  readonly #errors: JailErrors;

  private constructor(path: string, handle: FileHandle | undefined, errors: JailErrors) {
    this.path = path;
    this.#handle = handle;
    this.#errors = errors;
  }

  /** Opens the root. @throws what the system throws. */
  static async open(path: string, errors: JailErrors, hold: boolean): Promise<JailFolder> {
    return new JailFolder(
      path,
      hold ? await open(path, O_RDONLY | O_DIRECTORY) : undefined,
      errors,
    );
  }

  /** The path by which the system is asked for `name`. */
  at(name: string): string {
    return this.#handle === undefined
      ? join(this.path, name)
      : `/proc/self/fd/${this.#handle.fd}/${name}`;
  }

  /** Opens a folder in this one. @throws AccessDeniedError for a link, FileAccessError for what is no folder. */
  async enter(name: string, shown: string): Promise<JailFolder> {
    const path = join(this.path, name);
    if (this.#handle === undefined) {
      await this.#checkIsFolder(name, shown);
      return new JailFolder(path, undefined, this.#errors);
    }
    try {
      return new JailFolder(
        path,
        await open(this.at(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
        this.#errors,
      );
    } catch (e) {
      if (codeOf(e) === "ENOTDIR" || codeOf(e) === "ELOOP") await this.#checkIsFolder(name, shown);
      throw e;
    }
  }

  async #checkIsFolder(name: string, shown: string): Promise<void> {
    const stats = await this.stat(name);
    if (stats.isSymbolicLink()) throw this.#errors.resolvesOutside();
    if (!stats.isDirectory()) throw this.#errors.notADirectory(shown);
  }

  /** Makes a folder in this one, unless it is there, and opens it. */
  async make(name: string, shown: string): Promise<JailFolder> {
    try {
      await mkdir(this.at(name));
    } catch (e) {
      if (codeOf(e) !== "EEXIST") throw e;
    }
    return this.enter(name, shown);
  }

  /** What lies at `name` itself: a link is not followed. */
  stat(name: string): Promise<FileStats> {
    return statOf(this.at(name));
  }

  /** Opens a file for reading: never through a link, and without waiting for the other end of a pipe. */
  openFile(name: string): Promise<FileHandle> {
    return open(this.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  }

  /** Makes a file that must not be there yet. */
  createFile(name: string, mode: number): Promise<FileHandle> {
    return open(this.at(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  }

  async entries(): Promise<FolderEntry[]> {
    const found = await readdir(this.at("."), { withFileTypes: true });
    return found.map((entry) => ({
      name: entry.name,
      kind: entry.isFile() ? "file" : entry.isDirectory() ? "directory" : "other",
    }));
  }

  /** @throws AccessDeniedError when the path leads elsewhere by now; nothing to do for a folder that is held. */
  async verify(): Promise<void> {
    if (this.#handle === undefined && (await realpath(this.path)) !== this.path)
      throw this.#errors.resolvesOutside();
  }

  async close(): Promise<void> {
    await this.#handle?.close();
  }
}
