import { mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { messageOf } from "../errors.js";
import { codeOf } from "../objects.js";

/** For the owner alone: its files may hold prompts. */
const MODE = 0o700;
/** What the system says of a path below something that is not there, or is no folder. */
const NOT_THERE = new Set<unknown>(["ENOENT", "ENOTDIR"]);

/** Whether a folder is there. @throws Error for something else in its place, and where nobody may look. */
async function isThere(folder: string): Promise<boolean> {
  const found = await stat(folder).catch((error: unknown) => {
    if (NOT_THERE.has(codeOf(error))) return undefined;
    throw error;
  });
  if (found?.isDirectory() === false) throw new Error(`'${folder}' is no folder`);
  return found !== undefined;
}

/**
 * Makes a folder and those above it that are missing, one at a time, for their owner alone. Node's own way to make several never ends where the system
 * makes none and reports that the one above is missing, as in `/proc`.
 * @throws Error which folder can't be made, and why; callers add what it was for.
 */
export async function makeFolder(path: string): Promise<void> {
  const folder = resolve(path);
  if (await isThere(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) await makeFolder(parent);
  try {
    await mkdir(folder, MODE);
  } catch (cause) {
    if (codeOf(cause) === "EEXIST" && (await isThere(folder))) return; // another process was quicker
    const why =
      codeOf(cause) === "ENOENT" ? `the system makes no folder in '${parent}'` : messageOf(cause);
    throw new Error(`The folder '${folder}' can't be made: ${why}`, { cause });
  }
}
