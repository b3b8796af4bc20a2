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
import { isAtPath } from "./same-file.js";

/**
 * Times of a lock in milliseconds: the renewal interval of its holder, and the wait before a
 * takeover.
 */
export interface LockTiming {
  readonly heartbeatMs: number;
  readonly patienceMs: number;
}

const TIMING: LockTiming = { heartbeatMs: 2_000, patienceMs: 12_000 };
/** Number of takeover attempts while other processes try the same. */
const ATTEMPTS = 200;
const ATTEMPT_PAUSE_MS = 25;

/** Reports a lock of another holder. `hint` suggests a remedy. */
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
 * Protects a file or folder from other processes, and from other objects of this process. A lock
 * file next to it names the holder.
 *
 * Takes over the lock of a holder that has ended. The takeover is immediate if the process id can
 * be looked up (same machine, same container). Otherwise the lock file must be untouched for some
 * seconds. The former holder detects a mistaken takeover by {@link FileLock.isHeld}.
 */
export class FileLock {
  readonly path: string;
  /**
   * The user of the lock. The lock keeps a reference to it. Otherwise the garbage collector would
   * close its files with a warning.
   */
  owner: object | undefined;
  readonly #file: FileHandle;
  readonly #heartbeat: NodeJS.Timeout;

  private constructor(path: string, file: FileHandle, { heartbeatMs }: LockTiming) {
    this.path = path;
    this.#file = file;
    this.#heartbeat = setInterval(() => void this.#beat(), heartbeatMs).unref();
  }

  /** @throws FileInUseError while another holds the lock; errors of the file system. */
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

  /** Returns whether this lock is still in place: its file was neither removed nor taken over. */
  isHeld(): Promise<boolean> {
    return isAtPath(this.#file, this.path);
  }

  /** Ignores a failure: callers check `isHeld` before anything depends on the lock. */
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
  /** Differs from the mark of any later lock file. */
  readonly mark: string;
  readonly touched: bigint;
}

/** Creates the lock file. Returns `undefined` if it already exists. */
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
    await rm(path, { force: true }); // on a full disk, the incomplete file would look like a lock
    throw error;
  }
}

/** Removes a lock file of this process, and closes it. */
async function remove(file: FileHandle, path: string): Promise<void> {
  try {
    if (await isAtPath(file, path)) await rm(path, { force: true });
  } finally {
    await file.close();
  }
}

/** Reads a lock file. Returns `undefined` if there is none. */
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

/**
 * Returns whether the holder's process exists. For a holder elsewhere, or an unfinished lock file,
 * waits for a renewal.
 */
async function isHeld(path: string, seen: Seen, timing: LockTiming): Promise<boolean> {
  if (seen.holder !== undefined && seesSameProcesses(seen.holder, await thisProcess()))
    return isAlive(seen.holder);
  const longest = timing.patienceMs / 20;
  for (let waited = 0, step = 1; waited < timing.patienceMs; waited += step) {
    step = Math.min(2 * step, longest); // an unfinished file is soon complete
    await sleep(step);
    const now = await inspect(path);
    if (now === undefined) return false;
    if (now.mark !== seen.mark) return isHeld(path, now, timing);
    if (now.touched !== seen.touched) return true;
  }
  return false;
}

/**
 * Removes a lock whose holder has ended. A guard file admits one process at a time. No process can
 * therefore remove the new lock of another process. Returns false while another process removes the
 * lock.
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
    if (now?.mark === seen.mark && (await isAtPath(guard, guardPath)))
      await rm(path, { force: true });
  } finally {
    await remove(guard, guardPath);
  }
  return true;
}

/**
 * Removes the guard of a process that ended during its takeover. Renames the guard first, and
 * restores it if it now belongs to another process.
 */
async function clearGuard(path: string, timing: LockTiming): Promise<void> {
  const seen = await inspect(path);
  if (seen === undefined || (await isHeld(path, seen, timing))) return;
  const folder = await mkdtemp(`${path}.`);
  const moved = join(folder, "guard");
  try {
    if ((await inspect(path))?.mark !== seen.mark) return;
    await rename(path, moved);
    // A new holder writes another text.
    if ((await inspect(moved))?.text !== seen.text) await link(moved, path);
  } catch (error) {
    // Another process was faster.
    if (codeOf(error) !== "ENOENT" && codeOf(error) !== "EEXIST") throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
