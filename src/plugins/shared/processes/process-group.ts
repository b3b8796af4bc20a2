import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setImmediate, setTimeout as delay } from "node:timers/promises";

/**
 * Time limit for the end of processes after SIGKILL, in milliseconds. Only a process of another
 * user, or one blocked in the kernel, exceeds it.
 */
const KILL_LIMIT_MS = 1_000;
const LONGEST_PAUSE_MS = 50;
/** Number of processes that are looked up before control returns to the event loop. */
const CHUNK = 64;

/** Returns whether the group exists. A group with only zombies exists. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    // All processes belong to another user. On macOS this also occurs if all are zombies.
    return process.platform === "linux" && (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Ends a process and its descendants. Windows has no groups: `taskkill` finds descendants only
 * while their parents are alive.
 */
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

/**
 * Reads a process from /proc. `undefined` if it has ended. The name in parentheses may contain
 * parentheses and spaces, see proc(5).
 */
function processStat(pid: string): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

/**
 * Returns the ids of living processes of a group. An orphan remains a zombie if the first process
 * of a container does not wait for it. Returns control to the event loop regularly.
 */
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

/**
 * A process that was started as the leader of a group, and its children. A process that leaves the
 * group is excluded.
 */
export class ProcessGroup {
  readonly #pid: number;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /**
   * Sends SIGTERM to the group. Sends SIGKILL after `graceMs`, or when `skipGrace` aborts. Does
   * nothing for a group without living processes.
   * @returns ids of processes that could not be ended.
   */
  async end(graceMs: number, skipGrace?: AbortSignal): Promise<readonly number[]> {
    if (process.platform === "win32") return endOnWindows(this.#pid).then(() => []);
    if (!signalGroup(this.#pid, "SIGTERM")) return [];
    if (graceMs > 0 && (await this.#livingAfter(graceMs, skipGrace)).length === 0) return [];
    return signalGroup(this.#pid, "SIGKILL") ? this.#livingAfter(KILL_LIMIT_MS) : [];
  }

  /** Ends the group without waiting, because this process is ending. */
  killNow(): void {
    if (process.platform !== "win32") signalGroup(this.#pid, "SIGKILL");
    else
      try {
        process.kill(this.#pid, "SIGKILL");
      } catch {
        // The process has ended.
      }
  }

  /**
   * Returns the processes that are alive after a time. Returns early if none is left, or when
   * `skip` aborts.
   */
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
