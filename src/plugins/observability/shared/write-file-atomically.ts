import { open, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { messageOf, ValidationError } from "../../../contracts/errors.js";
import { requireText } from "../../../contracts/validation.js";
import { makeFolder } from "../../../kernel/index.js";

const MAX_STALE_FILES = 100;
/** Characters. */
const BLOCK = 256 * 1024;

function codeOf(e: unknown): unknown {
  return typeof e === "object" && e !== null && "code" in e ? e.code : undefined;
}

/** A new file beside `target`: another writer, or one that died, may hold the first names. */
async function openTemporary(
  target: string,
): Promise<{ readonly handle: FileHandle; readonly path: string }> {
  for (let n = 0; ; n++) {
    const path = join(dirname(target), `.${basename(target).slice(0, 80)}.${process.pid}.${n}.tmp`);
    try {
      return { handle: await open(path, "wx"), path };
    } catch (e) {
      if (codeOf(e) !== "EEXIST" || n >= MAX_STALE_FILES) throw e;
    }
  }
}

/** Pieces put together to blocks that are worth a write of their own; between two of them others get their turn. */
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

/** A device would be replaced by a file, for good. */
async function checkTarget(target: string): Promise<void> {
  const there = await stat(target).catch(() => undefined); // nothing is there, or nothing that anybody may look at
  if (there?.isFile() === false)
    throw new Error(there.isDirectory() ? "it is a folder" : "it is no regular file");
}

async function writeAndRename(target: string, pieces: Iterable<string>): Promise<void> {
  await makeFolder(dirname(target));
  await checkTarget(target);
  const temporary = await openTemporary(target);
  try {
    try {
      for (const block of blocksOf(pieces)) await temporary.handle.writeFile(block, "utf8");
      await temporary.handle.sync(); // else a power cut after the rename could leave an empty file under the final name
    } finally {
      await temporary.handle.close();
    }
    await rename(temporary.path, target);
  } catch (e) {
    await rm(temporary.path, { force: true });
    throw e;
  }
}

/**
 * Writes a text, given in pieces, into a file whole or not at all: a reader sees the old text or the new one. Missing folders are made; a symbolic link is replaced, not followed.
 * @throws ValidationError naming the path when it cannot be written.
 */
export async function writeFileAtomically(path: string, pieces: Iterable<string>): Promise<void> {
  requireText(path, "The path of a trace file must not be blank");
  const target = resolve(path);
  try {
    await writeAndRename(target, pieces);
  } catch (cause) {
    throw new ValidationError(`Cannot write the trace to '${target}': ${messageOf(cause)}`, {
      cause,
      hint: "Choose a path that this process may write to.",
    });
  }
}
