import { open } from "node:fs/promises";

/** Brings the names in a folder to the disk: a file that is new there, was renamed or removed. Does nothing on Windows, which knows no such thing. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
