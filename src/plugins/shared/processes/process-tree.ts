import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import type { RootProcess } from "./process-search.js";
import { findProcesses, findProcessesNow, startTicksOf } from "./process-search.js";

/** How long processes are given to be gone after SIGKILL, in milliseconds. Only what belongs to another user, or hangs in the kernel, outlives it. */
const KILL_LIMIT_MS = 1_000;
const LONGEST_PAUSE_MS = 50;

function send(targets: readonly number[], signal: NodeJS.Signals): void {
  for (const target of targets) {
    try {
      process.kill(target, signal);
    } catch {
      // Gone, which is what we want, or somebody else's: then it is among those that are left.
    }
  }
}

function groupIsAlive(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
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

/** A command's process and everything that it started. */
export class ProcessTree {
  readonly #root: RootProcess;
  /** Whether /proc tells of processes. */
  readonly #visible: boolean;

  /** Right after the start, while the process cannot have been forgotten by the system. */
  constructor(pid: number, mark: string) {
    const startTicks = process.platform === "linux" ? startTicksOf(pid) : undefined;
    this.#root = { pid, mark, startTicks };
    this.#visible = startTicks !== undefined;
  }

  /**
   * Asks all of them to end, and ends those that have not after `graceMs`, or when `hurry` is aborted; nothing happens where all have.
   * @returns the ids of processes that could not be ended.
   */
  async end(graceMs: number, hurry?: AbortSignal): Promise<readonly number[]> {
    if (process.platform === "win32") return endOnWindows(this.#root.pid).then(() => []);
    const left = await this.#terminate(graceMs, hurry);
    return left.length === 0 ? left : this.#kill();
  }

  /** Ends all of them without waiting: this process is about to end. */
  killNow(): void {
    const { pid } = this.#root;
    send(
      this.#visible ? findProcessesNow(this.#root) : [process.platform === "win32" ? pid : -pid],
      "SIGKILL",
    );
  }

  async #targets(): Promise<readonly number[]> {
    if (this.#visible) return findProcesses(this.#root);
    return groupIsAlive(this.#root.pid) ? [-this.#root.pid] : [];
  }

  async #terminate(graceMs: number, hurry: AbortSignal | undefined): Promise<readonly number[]> {
    let targets = await this.#targets();
    if (targets.length === 0) return targets;
    send(targets, "SIGTERM");
    const end = performance.now() + graceMs;
    const isTime = (): boolean => performance.now() >= end || hurry?.aborted === true;
    for (
      let pause = 5;
      targets.length > 0 && !isTime();
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
    ) {
      await delay(Math.min(pause, Math.max(1, end - performance.now())));
      targets = await this.#targets();
    }
    return targets;
  }

  async #kill(): Promise<readonly number[]> {
    const end = performance.now() + KILL_LIMIT_MS;
    for (;;) {
      // Searched anew each time: what is killed may have started another one just before.
      const targets = await this.#targets();
      if (targets.length === 0 || performance.now() > end) return targets.map(Math.abs);
      send(targets, "SIGKILL");
      await delay(5);
    }
  }
}
