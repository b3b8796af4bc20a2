import { fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Runs processes one after the other, each with the same program, a shared folder, and a word that
 * names its part.
 */
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

/** Ends this process like a crash, without any cleanup. */
export function crash(): void {
  process.kill(process.pid, "SIGKILL");
}

/** A process of the same program that serves other processes until it is disposed of. */
export interface ServerProcess extends AsyncDisposable {
  /** The message that the process sent when it was ready. */
  readonly message: string;
}

/** Starts a process with the same program and a word, and waits for its first message. */
export async function serverProcess(program: string, word: string): Promise<ServerProcess> {
  const child = fork(fileURLToPath(program), [word]);
  const [message] = (await once(child, "message")) as [string]; // the programs send only texts
  const end = async (): Promise<void> => {
    const exited = once(child, "exit");
    child.disconnect();
    await exited;
  };
  return { message, [Symbol.asyncDispose]: end };
}

/** Runs a process with the same program and the given words until it ends. */
export function inProcess(program: string, ...words: readonly string[]): void {
  const args = [...process.execArgv, fileURLToPath(program), ...words];
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) throw new Error(`process '${words.join(" ")}' failed`);
}
