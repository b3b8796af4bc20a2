import { readFile, stat } from "node:fs/promises";
import { codeOf } from "../objects.js";
import {
  isAlive,
  readHolder,
  seesSameProcesses,
  thisProcess,
  type LockHolder,
} from "./lock-holder.js";

/**
 * Returns whether a process holds the lock at `path`, as far as this can be determined without
 * waiting. A holder on another host or in another container counts as alive while its lock file is
 * recent. `silentMs` is the maximum age of a recent file in milliseconds. Default of `silentMs`: no
 * limit. `me`: this process. Default: looked up.
 *
 * @throws errors of the file system.
 */
export async function isLockHeld(
  path: string,
  o: { readonly me?: LockHolder | undefined; readonly silentMs?: number | undefined } = {},
): Promise<boolean> {
  try {
    const holder = readHolder(await readFile(path, "utf8"));
    if (holder !== undefined && seesSameProcesses(holder, o.me ?? (await thisProcess())))
      return await isAlive(holder);
    if (o.silentMs === undefined) return true;
    return (await stat(path)).mtimeMs > performance.timeOrigin + performance.now() - o.silentMs;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}
