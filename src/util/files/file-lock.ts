import type { FileHandle } from "node:fs/promises";
import { link, mkdtemp, open, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { sleep } from "../abort/timeouts.js";
import { codeOf } from "../objects.js";
import {
  isAlive,
  readHolder,
  seesSameProcesses,
  thisProcess,
  type LockHolder,
} from "./lock-holder.js";
import { isAt } from "./same-file.js";

/** How often a holder shows that it lives, and how long another waits for that before it takes over. */
export interface LockTiming {
  readonly heartbeatMs: number;
  readonly patienceMs: number;
}

const TIMING: LockTiming = { heartbeatMs: 2_000, patienceMs: 12_000 };
/** How often a takeover is tried while others try the same. */
const ATTEMPTS = 200;
const ATTEMPT_PAUSE_MS = 25;

/** Reports that another holds a lock. `hint` is what to do about it. */
export class FileInUseError extends Error {
  readonly hint: string;

  constructor(path: string, holder: LockHolder | undefined) {
    const isHere = holder?.pid === process.pid;
    const who =
      holder === undefined
        ? "another process"
        : isHere
          ? "this process"
          : `process ${holder.pid} on ${holder.host}`;
    super(`${path.replace(/\.lock$/, "")} is in use by ${who}`);
    this.name = "FileInUseError";
    this.hint = isHere
      ? "Use one object for it, or close() the other first"
      : `Let the other process close it or end; if there is none, delete ${path}*`;
  }
}

/**
 * Keeps other processes, and other objects of this one, from a file or folder: a file next to it that names its holder.
 *
 * The lock of a holder that has ended is taken over: immediately where its process id can be looked up (same machine, same container), else when its
 * file has not been touched for some seconds. {@link FileLock.isHeld} tells the holder if that was a mistake.
 */
export class FileLock {
  readonly path: string;
  /** The user of the lock. Kept from the garbage collector as long as the lock is held, which would close forgotten files with a warning. */
  owner: object | undefined;
  readonly #file: FileHandle;
  readonly #heartbeat: NodeJS.Timeout;

  private constructor(path: string, file: FileHandle, { heartbeatMs }: LockTiming) {
    this.path = path;
    this.#file = file;
    this.#heartbeat = setInterval(() => void this.#beat(), heartbeatMs).unref();
  }

  /** @throws FileInUseError while another holds the lock; what the file system throws. */
  static async acquire(path: string, timing: LockTiming = TIMING): Promise<FileLock> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const file = await create(path);
      if (file !== undefined) return new FileLock(path, file, timing);
      const seen = await inspect(path);
      if (seen === undefined) continue;
      if (await isHeld(path, seen, timing)) throw new FileInUseError(path, seen.holder);
      if (!(await removeStale(path, seen, timing))) await sleep(ATTEMPT_PAUSE_MS);
    }
    throw new FileInUseError(path, undefined);
  }

  /** Whether the lock is still this one: its file was neither removed nor taken over. */
  isHeld(): Promise<boolean> {
    return isAt(this.#file, this.path);
  }

  /** Ignores a failure: `isHeld` is asked before anything depends on the lock. */
  async #beat(): Promise<void> {
    const seconds = (performance.timeOrigin + performance.now()) / 1_000;
    await this.#file.utimes(seconds, seconds).catch(() => undefined);
  }

  async release(): Promise<void> {
    clearInterval(this.#heartbeat);
    await remove(this.#file, this.path);
  }
}

interface Seen {
  readonly text: string;
  readonly holder: LockHolder | undefined;
  /** Differs from that of a lock file that is made later. */
  readonly mark: string;
  readonly touched: bigint;
}

/** Makes the lock file; returns `undefined` where there is one. */
async function create(path: string): Promise<FileHandle | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, "wx", 0o600);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return undefined;
    throw error;
  }
  try {
    await file.writeFile(JSON.stringify(await thisProcess()));
    return file;
  } catch (error) {
    await file.close();
    await rm(path, { force: true }); // a full disk: what can't be written would look like a lock
    throw error;
  }
}

/** Removes a lock file of ours, and closes it. */
async function remove(file: FileHandle, path: string): Promise<void> {
  try {
    if (await isAt(file, path)) await rm(path, { force: true });
  } finally {
    await file.close();
  }
}

/** Reads a lock file; `undefined` where there is none. */
async function inspect(path: string): Promise<Seen | undefined> {
  try {
    const { ino, dev, birthtimeNs, mtimeNs } = await stat(path, { bigint: true });
    const text = await readFile(path, "utf8");
    return {
      text,
      holder: readHolder(text),
      mark: `${dev}:${ino}:${birthtimeNs}:${text}`,
      touched: mtimeNs,
    };
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Asks the system for the holder's process; for a holder elsewhere, or a file that is being made, waits for a touch. */
async function isHeld(path: string, seen: Seen, timing: LockTiming): Promise<boolean> {
  if (seen.holder !== undefined && seesSameProcesses(seen.holder, await thisProcess()))
    return isAlive(seen.holder);
  const longest = timing.patienceMs / 20;
  for (let waited = 0, step = 1; waited < timing.patienceMs; waited += step) {
    step = Math.min(2 * step, longest); // a file that is being made is complete in a moment
    await sleep(step);
    const now = await inspect(path);
    if (now === undefined) return false;
    if (now.mark !== seen.mark) return isHeld(path, now, timing);
    if (now.touched !== seen.touched) return true;
  }
  return false;
}

/**
 * Removes a lock whose holder has ended. One process at a time does so, by a guard file, so that none removes the lock that another has just made.
 * Returns false while another is at it.
 */
async function removeStale(path: string, seen: Seen, timing: LockTiming): Promise<boolean> {
  const guardPath = `${path}.takeover`;
  const guard = await create(guardPath);
  if (guard === undefined) {
    await clearGuard(guardPath, timing);
    return false;
  }
  try {
    const now = await inspect(path);
    if (now?.mark === seen.mark && (await isAt(guard, guardPath))) await rm(path, { force: true });
  } finally {
    await remove(guard, guardPath);
  }
  return true;
}

/** Removes the guard of a process that ended during its takeover. It is moved away first, and put back where it is another's by then. */
async function clearGuard(path: string, timing: LockTiming): Promise<void> {
  const seen = await inspect(path);
  if (seen === undefined || (await isHeld(path, seen, timing))) return;
  const folder = await mkdtemp(`${path}.`);
  const moved = join(folder, "guard");
  try {
    if ((await inspect(path))?.mark !== seen.mark) return;
    await rename(path, moved);
    if ((await inspect(moved))?.text !== seen.text) await link(moved, path); // a living process writes another text
  } catch (error) {
    if (codeOf(error) !== "ENOENT" && codeOf(error) !== "EEXIST") throw error; // another process was quicker
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
