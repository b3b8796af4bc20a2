import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders: string[] = [];

/** Creates an empty folder. The root hook removes it after the last test of the file. */
export function temporaryFolder(): string {
  const path = mkdtempSync(join(realpathSync(tmpdir()), "agentensemble-"));
  folders.push(path);
  return path;
}

export function removeTemporaryFolders(): void {
  for (const path of folders.splice(0))
    rmSync(path, { recursive: true, force: true, maxRetries: 5 });
}
