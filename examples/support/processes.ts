import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** One process after the other, each with the same program, a folder of all of them, and a word that says what it does. */
export function inProcesses(program: string, words: readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), "agentensemble-"));
  try {
    for (const word of words) {
      console.log(`Process '${word}':`);
      const args = [...process.execArgv, fileURLToPath(program), folder, word];
      const { signal, status } = spawnSync(process.execPath, args, { stdio: "inherit" });
      if (signal !== null) console.log(`  killed by ${signal}`);
      else if (status !== 0) throw new Error(`process '${word}' failed`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Ends this process as a crash does: nothing is cleaned up. */
export function crash(): void {
  process.kill(process.pid, "SIGKILL");
}
