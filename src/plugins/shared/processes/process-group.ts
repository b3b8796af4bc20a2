import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setImmediate, setTimeout as delay } from "node:timers/promises";

/** Time for processes to be gone after SIGKILL, in milliseconds. Only those of another user, or that hang in the kernel, outlive it. */
const KILL_LIMIT_MS = 1_000;
const LONGEST_PAUSE_MS = 50;
/** Processes that are looked up before other work runs. */
const CHUNK = 64;

/** Returns whether the group is still there, which it is as long as it has zombies. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    // All of another user. On macOS also: all zombies.
    return process.platform === "linux" && (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Windows has no groups: `taskkill` follows the parents, as far as they are alive. */
function endOnWindows(pid: number): Promise<void> {
  return new Promise((resolve) => {
    const killer = spawn("taskkill", ["/pid", String(pid), "/T", "/F"], {
      stdio: "ignore",
      windowsHide: true,
    });
    killer.once("error", () => resolve());
    killer.once("close", () => resolve());
  });
}

function listed(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** A process by /proc, or undefined where it is gone. See proc(5): the name in parentheses may itself contain parentheses and spaces. */
function processStat(pid: string): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

/** Ids of living processes of a group. An orphan stays a zombie where the first process of a container waits for none. Lets other work run in between. */
async function livingMembers(group: number): Promise<readonly number[]> {
  const members: number[] = [];
  const pids = listed("/proc").filter((name) => /^\d+$/.test(name));
  if (pids.length === 0) return [group]; // /proc is not mounted
  for (const [index, pid] of pids.entries()) {
    if (index % CHUNK === CHUNK - 1) await setImmediate();
    const [state = "X", , processGroup] = processStat(pid) ?? [];
    if (Number(processGroup) === group && !"ZX".includes(state)) members.push(Number(pid));
  }
  return members;
}

/** A process that was started as the leader of a group, and what it started. A process that leaves the group is no longer part of it. */
export class ProcessGroup {
  readonly #pid: number;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /**
   * Sends SIGTERM to the group, and SIGKILL after `graceMs`, or when `skipGrace` is aborted. Does nothing for a group without living processes.
   * @returns ids of processes that could not be ended.
   */
  async end(graceMs: number, skipGrace?: AbortSignal): Promise<readonly number[]> {
    if (process.platform === "win32") return endOnWindows(this.#pid).then(() => []);
    if (!signalGroup(this.#pid, "SIGTERM")) return [];
    if (graceMs > 0 && (await this.#livingAfter(graceMs, skipGrace)).length === 0) return [];
    return signalGroup(this.#pid, "SIGKILL") ? this.#livingAfter(KILL_LIMIT_MS) : [];
  }

  /** Ends the group without waiting: this process is about to end. */
  killNow(): void {
    if (process.platform !== "win32") signalGroup(this.#pid, "SIGKILL");
    else
      try {
        process.kill(this.#pid, "SIGKILL");
      } catch {
        // It has ended.
      }
  }

  /** The processes that are alive after a time, which ends early when none is, or when `skip` is aborted. */
  async #livingAfter(limitMs: number, skip?: AbortSignal): Promise<readonly number[]> {
    const end = performance.now() + limitMs;
    for (let pause = 5; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      const left = await this.#living();
      const restMs = end - performance.now();
      if (left.length === 0 || restMs <= 0 || skip?.aborted === true) return left;
      await delay(Math.min(pause, Math.max(1, restMs)));
    }
  }

  async #living(): Promise<readonly number[]> {
    if (!signalGroup(this.#pid, 0)) return [];
    return process.platform === "linux" ? livingMembers(this.#pid) : [this.#pid];
  }
}
