import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "../objects.js";
import { isWritableFolder } from "./writable-folder.js";

/**
 * Checks that the file can be read, written and replaced, or created. Changes nothing. `path` is
 * absolute.
 * @throws Error with the reason.
 */
export function requireUsableFile(path: string): void {
  const folder = dirname(path);
  if (!isWritableFolder(folder)) throw new Error(`the folder ${folder} can't be written`);
  try {
    if (!statSync(path).isFile()) throw new Error(`${path} is not a regular file`);
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}
