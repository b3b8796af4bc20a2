import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { pause } from "./time.js";

/** Whether a process runs. A process that ended and was not collected does not run. */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== "linux") return true;
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  return stat !== "" && !/\) [ZX] /.test(stat);
}

/** The process ids that scripts wrote into files `*.pid` of a folder. */
export async function writtenPids(folder: string): Promise<readonly number[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".pid"));
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  return texts.map(Number).filter((pid) => pid > 0);
}

/** Waits until a file of the folder contains a process id. */
export async function untilWritten(folder: string): Promise<void> {
  while ((await writtenPids(folder)).length === 0) await pause(10);
}
