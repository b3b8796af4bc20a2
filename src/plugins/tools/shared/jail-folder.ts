import { constants, existsSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { lstat, mkdir, open, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { JailErrors } from "./jail-errors.js";
import { codeOf } from "../../../util/objects.js";

// Windows lacks some of these constants. They are 0 there.
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

/**
 * Whether folders can be pinned by handle. Linux resolves names relative to an open folder, even if
 * its path changes meanwhile.
 */
export function canHoldFolders(): boolean {
  return process.platform === "linux" && existsSync("/proc/self/fd");
}

/** The entry at a name. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: "file" | "directory" | "other";
}

/** Stats of a file, as big integers because inode numbers can exceed the safe range. */
export type FileStats = Awaited<ReturnType<typeof statOf>>;

async function statOf(path: string) {
  return lstat(path, { bigint: true });
}

/**
 * A folder within the jail, opened without following a link. Where folders can be pinned, every
 * operation happens in the folder that was opened. On other platforms the path is checked again
 * after each opening. A file is checked by its identity. A short race between check and operation
 * remains.
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

  /**
   * Opens the root.
   * @throws the system's errors
   */
  static async open(path: string, errors: JailErrors, hold: boolean): Promise<JailFolder> {
    return new JailFolder(
      path,
      hold ? await open(path, O_RDONLY | O_DIRECTORY) : undefined,
      errors,
    );
  }

  /** Returns the path for system calls on `name`. */
  at(name: string): string {
    return this.#handle === undefined
      ? join(this.path, name)
      : `/proc/self/fd/${this.#handle.fd}/${name}`;
  }

  /**
   * Opens a child folder.
   * @throws AccessDeniedError for a link, FileAccessError if it is not a folder
   */
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

  /** Opens a child folder and creates it first if it is missing. */
  async make(name: string, shown: string): Promise<JailFolder> {
    try {
      await mkdir(this.at(name));
    } catch (e) {
      if (codeOf(e) !== "EEXIST") throw e;
    }
    return this.enter(name, shown);
  }

  /** Returns the stats of `name` itself without following a link. */
  stat(name: string): Promise<FileStats> {
    return statOf(this.at(name));
  }

  /** Opens a file for reading. Never follows a link and never blocks on a pipe. */
  openFile(name: string): Promise<FileHandle> {
    return open(this.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  }

  /** Creates a file that must not exist yet. */
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

  /**
   * Checks that the path still leads to this folder. Does nothing for a pinned folder.
   * @throws AccessDeniedError if the path leads elsewhere
   */
  async verify(): Promise<void> {
    if (this.#handle === undefined && (await realpath(this.path)) !== this.path)
      throw this.#errors.resolvesOutside();
  }

  /**
   * Returns whether the path of a file that was opened in this folder leads to that file. Detects a
   * folder that was a link only at the moment of opening. Always true for a pinned folder.
   * @throws AccessDeniedError if the path of the folder leads elsewhere
   */
  async leadsTo(name: string, { dev, ino }: FileStats): Promise<boolean> {
    if (this.#handle !== undefined) return true;
    const found = await this.stat(name);
    await this.verify();
    return found.dev === dev && found.ino === ino;
  }

  async close(): Promise<void> {
    await this.#handle?.close();
  }
}
