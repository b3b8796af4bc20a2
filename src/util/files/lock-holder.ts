import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";

/** The holder of a lock, as written in its file. The last three fields are known on Linux only. */
export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  /** Differs for each boot. */
  readonly boot?: string | undefined;
  /** The namespace of the process id. It differs between containers. */
  readonly space?: string | undefined;
  /** Start of the process, in ticks since the boot. Distinguishes reused process ids. */
  readonly started?: string | undefined;
}

export async function thisProcess(): Promise<LockHolder> {
  const [boot, space, status] = await Promise.all([
    readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => undefined),
    readlink("/proc/self/ns/pid").catch(() => undefined),
    statusOf(process.pid),
  ]);
  return {
    pid: process.pid,
    host: hostname(),
    boot: boot?.trim(),
    space,
    started: status?.started,
  };
}

/**
 * Returns the holder named in a lock file. Returns `undefined` for any other text, or an unfinished
 * file.
 */
export function readHolder(text: string): LockHolder | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined; // not a lock file
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { pid, host, boot, space, started } = value as Record<string, unknown>; // checked above
  if (!Number.isSafeInteger(pid) || (pid as number) < 1 || typeof host !== "string")
    return undefined; // the first check requires a number
  const textOf = (field: unknown): string | undefined =>
    typeof field === "string" ? field : undefined;
  return {
    pid: pid as number,
    host,
    boot: textOf(boot),
    space: textOf(space),
    started: textOf(started),
  };
}

/**
 * Returns whether the holder's process id has the same meaning here. Compares the boot, because a
 * host's name may change.
 */
export function seesSameProcesses(holder: LockHolder, me: LockHolder): boolean {
  if (holder.boot !== me.boot || holder.space !== me.space) return false;
  return me.boot !== undefined || holder.host === me.host;
}

/**
 * Returns whether the holder's process still has this id. A process that has ended is not alive,
 * even if its parent has not collected it.
 */
export async function isAlive({ pid, started }: LockHolder): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Another user's process.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
  if (started === undefined) return true;
  const status = await statusOf(pid);
  // In case of doubt, the process counts as alive.
  return status === undefined || (status.started === started && !"ZX".includes(status.state));
}

/**
 * Returns state and start of a process on Linux. The name that precedes them may contain any
 * character, including brackets.
 */
async function statusOf(
  pid: number,
): Promise<{ readonly state: string; readonly started: string } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, started] = [fields?.[0], fields?.[19]];
  return state === undefined || started === undefined ? undefined : { state, started };
}
