import type { FileHandle } from "node:fs/promises";
import { stat } from "node:fs/promises";
import { codeOf } from "../objects.js";

/** Returns whether an open file is still at `path`: neither removed nor replaced. */
export async function isAtPath(file: FileHandle, path: string): Promise<boolean> {
  try {
    const [open, there] = await Promise.all([
      file.stat({ bigint: true }),
      stat(path, { bigint: true }),
    ]);
    return open.ino === there.ino && open.dev === there.dev;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}
