import { open } from "node:fs/promises";

/**
 * Writes the entries of a folder (files created, renamed or removed) to the disk. Does nothing on
 * Windows, because Windows has no such operation.
 */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
