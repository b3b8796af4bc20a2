import { mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { messageOf } from "../errors.js";
import { codeOf } from "../objects.js";

/** Owner access only: the files may contain prompts. */
const MODE = 0o700;
/** Error codes for a path below a missing folder, or below a file. */
const NOT_THERE = new Set<unknown>(["ENOENT", "ENOTDIR"]);

/**
 * Returns whether a folder exists.
 * @throws Error for anything else at the path, or without permission to look.
 */
async function isThere(folder: string): Promise<boolean> {
  const found = await stat(folder).catch((error: unknown) => {
    if (NOT_THERE.has(codeOf(error))) return undefined;
    throw error;
  });
  if (found?.isDirectory() === false) throw new Error(`'${folder}' is not a folder`);
  return found !== undefined;
}

/**
 * Creates a folder and its missing parents, one at a time, with owner access only. Node's recursive
 * option never ends if the system creates no folder and reports a missing parent, as in `/proc`.
 * @throws Error with the folder and the reason. Callers add the purpose.
 */
export async function makeFolder(path: string): Promise<void> {
  const folder = resolve(path);
  if (await isThere(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) await makeFolder(parent);
  try {
    await mkdir(folder, MODE);
  } catch (cause) {
    // Another process was faster.
    if (codeOf(cause) === "EEXIST" && (await isThere(folder))) return;
    const why =
      codeOf(cause) === "ENOENT"
        ? `the system can't create a folder in '${parent}'`
        : messageOf(cause);
    throw new Error(`The folder '${folder}' can't be made: ${why}`, { cause });
  }
}
