import { open, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { codeOf } from "../objects.js";
import { makeFolder } from "./make-folder.js";
import { isAtPath } from "./same-file.js";

/** Owner access only: the text may contain prompts. */
const MODE = 0o600;
const MAX_NAMES = 100;
/** Size of a write, in characters. */
const BLOCK = 256 * 1024;

/**
 * A new file next to its target. Replaces the target in one step. Follows no symbolic link at
 * either path.
 */
export class DraftFile {
  private constructor(
    readonly target: string,
    readonly path: string,
    readonly handle: FileHandle,
  ) {}

  /**
   * Creates the draft and missing folders.
   * @throws Error for a target that is not a regular file; EEXIST if `path` exists; other errors of
   * the file system.
   */
  static async at(path: string, target: string): Promise<DraftFile> {
    await makeFolder(dirname(target));
    await checkTarget(target);
    return new DraftFile(target, path, await open(path, "wx+", MODE));
  }

  /**
   * Creates the draft under the first free path of `pathOf`. Default: hidden files next to the
   * target.
   */
  static async create(target: string, pathOf = hiddenPath): Promise<DraftFile> {
    for (let n = 0; ; n++) {
      try {
        return await DraftFile.at(pathOf(target, n), target);
      } catch (error) {
        // The first names may be in use by another writer, or left by a crashed writer.
        if (codeOf(error) !== "EEXIST" || n >= MAX_NAMES) throw error;
      }
    }
  }

  /**
   * Replaces the target after all bytes are on the disk.
   * @throws Error if another writer has removed or replaced the draft.
   */
  async publish(): Promise<void> {
    await this.handle.sync(); // a power cut after the rename could otherwise leave an empty file
    if (!(await isAtPath(this.handle, this.path))) throw new Error("another writer has taken over");
    await rename(this.path, this.target);
  }

  /** Closes an unpublished draft and removes it, unless the path belongs to another writer. */
  async discard(): Promise<void> {
    try {
      if (await isAtPath(this.handle, this.path)) await rm(this.path, { force: true });
    } finally {
      await this.handle.close();
    }
  }
}

function hiddenPath(target: string, n: number): string {
  return join(dirname(target), `.${basename(target).slice(0, 80)}.${process.pid}.${n}.tmp`);
}

/** Refuses devices: a rename would permanently replace a device by a file. */
async function checkTarget(target: string): Promise<void> {
  const there = await stat(target).catch(() => undefined); // missing or unreadable
  if (there?.isFile() === false)
    throw new Error(there.isDirectory() ? "it is a folder" : "it is not a regular file");
}

/** Joins pieces into blocks of efficient size. Other work may run between two blocks. */
function* blocksOf(pieces: Iterable<string>): Generator<string> {
  let block = "";
  for (const piece of pieces) {
    block += piece;
    if (block.length < BLOCK) continue;
    yield block;
    block = "";
  }
  if (block !== "") yield block;
}

/**
 * Writes a file completely or not at all: a reader receives either the old content or the new
 * content. Creates missing folders. Replaces a symbolic link instead of following it. Only the
 * owner has access.
 *
 * @throws Error for a target that is not a regular file; errors of the file system.
 */
export async function writeFileAtomically(
  path: string,
  content: Uint8Array | Iterable<string>,
): Promise<void> {
  const draft = await DraftFile.create(resolve(path));
  try {
    if (content instanceof Uint8Array) await draft.handle.writeFile(content);
    else for (const block of blocksOf(content)) await draft.handle.writeFile(block, "utf8");
    await draft.publish();
  } catch (error) {
    await draft.discard();
    throw error;
  }
  await draft.handle.close();
}
