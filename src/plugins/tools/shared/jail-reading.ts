import type { FileHandle } from "node:fs/promises";
import { realpath } from "node:fs/promises";
import type { FileStats, JailFolder } from "./jail-folder.js";
import type { JailRoot, JailPlace } from "./jail-root.js";
import { isMissing } from "./jail-errors.js";
import { isInside } from "./path-text.js";

/** An open file. The caller closes the handle. */
export interface OpenedFile {
  readonly handle: FileHandle;
  readonly size: number;
  /** Changes when the file is written or replaced. */
  readonly version: string;
}

/** Number of attempts for a file that is replaced while it is being opened. */
const ATTEMPTS = 3;
const CHUNK = 64 * 1024;

/** Returns the identity of a file and its state. */
export function versionOf({ dev, ino, size, mtimeNs }: FileStats): string {
  return [dev, ino, size, mtimeNs].join(":");
}

/**
 * Throws the error for a link in the place of a file. Links within the jail are rejected too, with
 * a message that names the target.
 */
async function refuseLink(root: JailRoot, folder: JailFolder, name: string): Promise<never> {
  const target = await realpath(folder.at(name)).catch(() => undefined);
  throw target !== undefined && isInside(root.path, target)
    ? root.errors.denied("path is a symbolic link")
    : root.errors.resolvesOutside();
}

/**
 * Returns the stats of a file.
 * @throws AccessDeniedError for a link, FileAccessError if it is not a regular file
 */
export async function statFile(
  root: JailRoot,
  folder: JailFolder,
  name: string,
  shown: string,
): Promise<FileStats> {
  const stats = await folder.stat(name);
  if (stats.isSymbolicLink()) await refuseLink(root, folder, name);
  if (!stats.isFile()) throw root.errors.notAFile(shown);
  return stats;
}

/**
 * Opens a regular file in a folder. A check before opening rejects pipes and devices. A check after
 * opening ensures that the opened file is the checked one.
 */
export async function openIn(
  root: JailRoot,
  folder: JailFolder,
  name: string,
  shown: string,
): Promise<OpenedFile> {
  for (let attempt = 1; ; attempt++) {
    const before = await statFile(root, folder, name, shown);
    const handle = await folder.openFile(name);
    try {
      const stats = await handle.stat({ bigint: true });
      await folder.verify();
      const isChecked = stats.isFile() && stats.ino === before.ino && stats.dev === before.dev;
      if (isChecked && (await folder.leadsTo(name, stats)))
        return { handle, size: Number(stats.size), version: versionOf(stats) };
    } catch (e) {
      await handle.close();
      throw e;
    }
    await handle.close();
    if (attempt === ATTEMPTS)
      throw root.errors.denied("path leads to something else each time it is looked at");
  }
}

/** Opens the file at a place. */
export async function openAt(root: JailRoot, place: JailPlace): Promise<OpenedFile> {
  if (place.name === "") throw root.errors.notAFile(place.shown);
  if (place.missing.length > 0) throw root.errors.notFound(place.shown);
  try {
    const folder = await root.folder(place.folder, place.shown);
    try {
      return await openIn(root, folder, place.name, place.shown);
    } finally {
      await folder.close();
    }
  } catch (e) {
    throw isMissing(e)
      ? root.errors.notFound(place.shown)
      : root.errors.system("read", place.shown, e);
  }
}

/**
 * Reads from `position` to the end of the file, at most `limit` bytes. The limit also ends the
 * reading of a file that keeps growing.
 */
export async function readBytes(
  handle: FileHandle,
  position: number,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  while (length < limit) {
    signal?.throwIfAborted();
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK, limit - length));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position + length);
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length);
}
