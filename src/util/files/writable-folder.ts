import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Returns whether files can be created in `path`, or in its nearest existing parent. `path` is
 * absolute.
 */
export function isWritableFolder(path: string): boolean {
  let folder = path;
  while (!existsSync(folder)) folder = dirname(folder);
  try {
    accessSync(`${folder}/.`, constants.W_OK); // fails for a file
    return true;
  } catch {
    return false;
  }
}
