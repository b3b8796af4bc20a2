import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";

/** Who holds a lock file, as it stands there. The last three are known on Linux only. */
export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  /** Differs from boot to boot. */
  readonly boot?: string | undefined;
  /** The namespace that the process id belongs to: containers have one each. */
  readonly space?: string | undefined;
  /** When the process began, in ticks since the boot: process ids are used again. */
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

/** The holder that a lock file names; `undefined` for what is no lock, or is not written yet. */
export function readHolder(text: string): LockHolder | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined; // the same as any other text that names nobody
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { pid, host, boot, space, started } = value as Record<string, unknown>; // an object, said above
  if (!Number.isSafeInteger(pid) || (pid as number) < 1 || typeof host !== "string")
    return undefined; // a number, says the first check
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

/** Whether the holder's process id means the same here as there. A host's name may change while it runs; its boot does not. */
export function seesSameProcesses(holder: LockHolder, me: LockHolder): boolean {
  if (holder.boot !== me.boot || holder.space !== me.space) return false;
  return me.boot !== undefined || holder.host === me.host;
}

/** Whether the holder's process is still the one with this id. A process that has ended but was not yet collected by its parent is not alive. */
export async function isAlive({ pid, started }: LockHolder): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"; // somebody else's process
  }
  if (started === undefined) return true;
  const status = await statusOf(pid);
  return status === undefined || (status.started === started && !"ZX".includes(status.state)); // in doubt alive
}

/** State and beginning of a process, from Linux. The name before them may hold anything, brackets too. */
async function statusOf(
  pid: number,
): Promise<{ readonly state: string; readonly started: string } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, started] = [fields?.[0], fields?.[19]];
  return state === undefined || started === undefined ? undefined : { state, started };
}
