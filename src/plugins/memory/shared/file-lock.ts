import type { FileHandle } from "node:fs/promises";
import { open, readFile, rm, stat } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { MemoryStoreError } from "../../../contracts/state-errors.js";
import {
  isAlive,
  readHolder,
  seesSameProcesses,
  thisProcess,
  type LockHolder,
} from "./lock-holder.js";

/** How often a holder shows that it lives, and how long another waits for that before it takes over. */
export interface LockTiming {
  readonly heartbeatMs: number;
  readonly patienceMs: number;
}

const TIMING: LockTiming = { heartbeatMs: 2_000, patienceMs: 12_000 };
/** How often a takeover is tried again while others try the same; that of a guard is not worth the wait. */
const ATTEMPTS = 200;
const GUARD_ATTEMPTS = 3;
const ATTEMPT_PAUSE_MS = 25;
/** The guard of a takeover is a lock itself; one left by a crash has a guard of its own, and so on, this deep. */
const MAX_GUARDS = 2;

/** Whether an error of the file system has this code. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/**
 * Keeps other processes, and other objects of this one, from a file or folder: a file beside it that names its holder.
 *
 * The lock of a holder that has ended is taken over: at once where its process id can be looked up (same machine, same container), else when its file
 * has not been touched for some seconds. The holder finds out with {@link FileLock.check} if that was a mistake.
 */
export class FileLock {
  readonly path: string;
  /** Whoever uses the lock, kept from the garbage collector as long as the lock is held: it would close files that were only forgotten, with a warning. */
  owner: object | undefined;
  readonly #file: FileHandle;
  readonly #heartbeat: NodeJS.Timeout;

  private constructor(path: string, file: FileHandle, { heartbeatMs }: LockTiming) {
    this.path = path;
    this.#file = file;
    this.#heartbeat = setInterval(() => void this.#beat(), heartbeatMs).unref();
  }

  /** @throws MemoryStoreError while another holds the lock; what the file system throws. */
  static async acquire(path: string, timing: LockTiming = TIMING): Promise<FileLock> {
    return FileLock.#acquire(path, timing, 0);
  }

  static async #acquire(path: string, timing: LockTiming, depth: number): Promise<FileLock> {
    for (let attempt = 0; attempt < (depth === 0 ? ATTEMPTS : GUARD_ATTEMPTS); attempt++) {
      const file = await create(path);
      if (file !== undefined) return new FileLock(path, file, timing);
      const seen = await look(path);
      if (seen === undefined) continue;
      if (depth > MAX_GUARDS || (await isHeld(path, seen, timing))) throw inUse(path, seen.holder);
      if (!(await FileLock.#removeStale(path, seen, timing, depth))) await pause(ATTEMPT_PAUSE_MS);
    }
    throw inUse(path, undefined);
  }

  /** Removes a lock whose holder has ended; one process at a time, so that nobody removes the lock that another has just made. */
  static async #removeStale(
    path: string,
    seen: Seen,
    timing: LockTiming,
    depth: number,
  ): Promise<boolean> {
    let guard: FileLock;
    try {
      guard = await FileLock.#acquire(`${path}.takeover`, timing, depth + 1);
    } catch (error) {
      if (MemoryStoreError.isInstance(error)) return false; // somebody else is at it
      throw error;
    }
    try {
      const now = await look(path);
      if (now?.mark === seen.mark) await rm(path, { force: true });
    } finally {
      await guard.release();
    }
    return true;
  }

  /** Whether the lock is still this one: nobody has removed its file or taken over. */
  async isHeld(): Promise<boolean> {
    try {
      const [mine, there] = await Promise.all([
        this.#file.stat({ bigint: true }),
        stat(this.path, { bigint: true }),
      ]);
      return mine.ino === there.ino && mine.dev === there.dev;
    } catch (error) {
      if (hasCode(error, "ENOENT")) return false;
      throw error;
    }
  }

  /** A beat that fails is not told: `isHeld` is asked before anything depends on it. */
  async #beat(): Promise<void> {
    const seconds = (performance.timeOrigin + performance.now()) / 1_000;
    await this.#file.utimes(seconds, seconds).catch(() => undefined);
  }

  async release(): Promise<void> {
    clearInterval(this.#heartbeat);
    try {
      if (await this.isHeld()) await rm(this.path, { force: true });
    } finally {
      await this.#file.close();
    }
  }
}

interface Seen {
  readonly holder: LockHolder | undefined;
  /** Tells this lock file from one that is made later. */
  readonly mark: string;
  readonly touched: bigint;
}

/** Makes the lock file, or `undefined` where there is one. */
async function create(path: string): Promise<FileHandle | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, "wx", 0o600);
  } catch (error) {
    if (hasCode(error, "EEXIST")) return undefined;
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

async function look(path: string): Promise<Seen | undefined> {
  try {
    const { ino, dev, birthtimeNs, mtimeNs } = await stat(path, { bigint: true });
    const text = await readFile(path, "utf8");
    return {
      holder: readHolder(text),
      mark: `${dev}:${ino}:${birthtimeNs}:${text}`,
      touched: mtimeNs,
    };
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** By its process where that can be asked for; a lock file of elsewhere, or one that is just being made, by whether it is touched. */
async function isHeld(path: string, seen: Seen, timing: LockTiming): Promise<boolean> {
  if (seen.holder !== undefined && seesSameProcesses(seen.holder, await thisProcess()))
    return isAlive(seen.holder);
  const longest = timing.patienceMs / 20;
  for (let waited = 0, step = 1; waited < timing.patienceMs; waited += step) {
    step = Math.min(2 * step, longest); // what is just being made is there in a moment
    await pause(step);
    const now = await look(path);
    if (now === undefined) return false;
    if (now.mark !== seen.mark) return isHeld(path, now, timing);
    if (now.touched !== seen.touched) return true;
  }
  return false;
}

function inUse(path: string, holder: LockHolder | undefined): MemoryStoreError {
  const here = holder?.pid === process.pid;
  const who =
    holder === undefined
      ? "another process"
      : here
        ? "this process"
        : `process ${holder.pid} on ${holder.host}`;
  const hint = here
    ? "Use one object for it, or close() the other first"
    : `Let the other process close it or end; if there is none, delete ${path}*`;
  return new MemoryStoreError(
    `${path.replace(/\.lock$/, "")} is in use by ${who}`,
    { operation: "open" },
    { hint },
  );
}
