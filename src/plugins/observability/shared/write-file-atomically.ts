import { mkdir, open, rename, rm, type FileHandle } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { messageOf, ValidationError } from "../../../contracts/errors.js";
import { requireText } from "../../../contracts/validation.js";

const MAX_STALE_FILES = 100;

function codeOf(e: unknown): unknown {
  return typeof e === "object" && e !== null && "code" in e ? e.code : undefined;
}

/** A new file beside `target`: another writer, or one that died, may hold the first names. */
async function openTemporary(target: string): Promise<{ readonly handle: FileHandle; readonly path: string }> {
  for (let n = 0; ; n++) {
    const path = join(dirname(target), `.${basename(target).slice(0, 80)}.${process.pid}.${n}.tmp`);
    try {
      return { handle: await open(path, "wx"), path };
    } catch (e) {
      if (codeOf(e) !== "EEXIST" || n >= MAX_STALE_FILES) throw e;
    }
  }
}

async function writeAndRename(target: string, text: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  const temporary = await openTemporary(target);
  try {
    try {
      await temporary.handle.writeFile(text, "utf8");
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
 * Writes a file whole or not at all: a reader sees the old text or the new one. Missing folders are made; a symbolic link is replaced, not followed.
 * @throws ValidationError naming the path when it cannot be written.
 */
export async function writeFileAtomically(path: string, text: string): Promise<void> {
  requireText(path, "The path of a trace file must not be blank");
  const target = resolve(path);
  try {
    await writeAndRename(target, text);
  } catch (cause) {
    throw new ValidationError(`Cannot write the trace to '${target}': ${messageOf(cause)}`, { cause, hint: "Choose a path that this process may write to." });
  }
}
