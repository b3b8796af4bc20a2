import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";

/** Returns whether files can be made in `path`, or in the nearest folder above it where it does not exist yet. `path` is absolute. */
export function isWritableFolder(path: string): boolean {
  let folder = path;
  while (!existsSync(folder)) folder = dirname(folder);
  try {
    accessSync(`${folder}/.`, constants.W_OK); // fails for a file, which has nothing below it
    return true;
  } catch {
    return false;
  }
}
