import { open, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { codeOf } from "../objects.js";
import { makeFolder } from "./make-folder.js";
import { isAt } from "./same-file.js";

/** For the owner alone: what is written may hold prompts. */
const MODE = 0o600;
const MAX_NAMES = 100;
/** Characters. */
const BLOCK = 256 * 1024;

/** A new file next to its target, which it replaces in one step. A symbolic link in the place of either is not followed. */
export class DraftFile {
  private constructor(
    readonly target: string,
    readonly path: string,
    readonly handle: FileHandle,
  ) {}

  /** Makes the draft, and missing folders. @throws Error for a target that is no regular file; what the file system throws, EEXIST for a `path` that is taken. */
  static async at(path: string, target: string): Promise<DraftFile> {
    await makeFolder(dirname(target));
    await checkTarget(target);
    return new DraftFile(target, path, await open(path, "wx+", MODE));
  }

  /** The same under the first free path of those that `pathOf` makes, which are hidden files by default. */
  static async create(target: string, pathOf = hiddenPath): Promise<DraftFile> {
    for (let n = 0; ; n++) {
      try {
        return await DraftFile.at(pathOf(target, n), target);
      } catch (error) {
        // Another writer, or one that died, holds the first names.
        if (codeOf(error) !== "EEXIST" || n >= MAX_NAMES) throw error;
      }
    }
  }

  /** Takes the place of the target, once all is on the disk. @throws Error where another writer has removed or replaced the draft. */
  async publish(): Promise<void> {
    await this.handle.sync(); // else a power cut after the rename could leave an empty file under the final name
    if (!(await isAt(this.handle, this.path))) throw new Error("another writer has taken over");
    await rename(this.path, this.target);
  }

  /** Removes a draft that was not published, unless it is another writer's by now, and closes it. */
  async discard(): Promise<void> {
    try {
      if (await isAt(this.handle, this.path)) await rm(this.path, { force: true });
    } finally {
      await this.handle.close();
    }
  }
}

function hiddenPath(target: string, n: number): string {
  return join(dirname(target), `.${basename(target).slice(0, 80)}.${process.pid}.${n}.tmp`);
}

/** A device would be replaced by a file, for good. */
async function checkTarget(target: string): Promise<void> {
  const there = await stat(target).catch(() => undefined); // nothing is there, or nothing that anybody may look at
  if (there?.isFile() === false)
    throw new Error(there.isDirectory() ? "it is a folder" : "it is no regular file");
}

/** Pieces put together to blocks that are worth a write; between two of them others get their turn. */
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
 * Writes a whole file or nothing: a reader sees the old content or the new one. Makes missing folders; replaces a symbolic link instead of following it.
 * File and folders are for their owner alone.
 * @throws Error for a target that is no regular file; what the file system throws.
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
