import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { codeOf } from "../objects.js";

/**
 * Opens an existing file. `write`: for reading and writing. Returns `undefined` if the file is
 * missing. Does not follow a symbolic link at the path.
 * @throws errors of the file system.
 */
export async function openFileAt(
  path: string,
  access: "read" | "write",
): Promise<FileHandle | undefined> {
  const { O_RDONLY, O_RDWR } = constants;
  // Windows has none.
  const noFollow = (constants as { readonly O_NOFOLLOW?: number }).O_NOFOLLOW ?? 0;
  try {
    return await open(path, (access === "read" ? O_RDONLY : O_RDWR) | noFollow);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
