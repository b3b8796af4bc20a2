import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";

/** How long each step of the end may take before the next, harder one. */
const PATIENCE_MS = 500;
const POLL_MS = 20;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Signals the child's whole process group. Returns whether there was anybody left to get it. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false; // nobody of the group is left
  }
}

async function groupEnds(pid: number): Promise<boolean> {
  for (let waited = 0; waited < PATIENCE_MS; waited += POLL_MS) {
    if (!signalGroup(pid, 0)) return true;
    await pause(POLL_MS);
  }
  return !signalGroup(pid, 0);
}

const hasExited = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

async function exits(child: ChildProcess, withinMs: number): Promise<boolean> {
  if (hasExited(child)) return true;
  let timer: NodeJS.Timeout | undefined;
  let onExit: (() => void) | undefined;
  await new Promise<void>((resolve) => {
    onExit = resolve;
    child.once("exit", resolve);
    timer = setTimeout(resolve, withinMs);
  });
  clearTimeout(timer);
  if (onExit !== undefined) child.off("exit", onExit);
  return hasExited(child);
}

/** Windows has no process groups; its own tool walks the tree. */
async function killTreeOnWindows(child: ChildProcess, pid: number): Promise<void> {
  const killer = spawn("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore", windowsHide: true });
  await new Promise<void>((resolve) => killer.once("error", () => resolve()).once("exit", () => resolve()));
  if (!(await exits(child, PATIENCE_MS))) child.kill("SIGKILL");
}

/**
 * Ends a child that was started as leader of a process group, with all that it has started: its input is closed, then it is asked to end, then made to.
 * @param isSpoken whether it takes part in a conversation, so that the end of its input means something to it.
 */
export async function endProcessTree(child: ChildProcess, isSpoken: boolean): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  child.stdin?.end();
  if (isSpoken) await exits(child, PATIENCE_MS);
  if (process.platform === "win32") return killTreeOnWindows(child, pid);
  if (signalGroup(pid, "SIGTERM") && !(await groupEnds(pid))) signalGroup(pid, "SIGKILL");
  await exits(child, PATIENCE_MS);
}
