import { MemoryStoreError } from "../../../contracts/state-errors.js";
import { FileInUseError, FileLock } from "../../../util/files/file-lock.js";

/**
 * Locks a file or folder.
 * @throws MemoryStoreError while another holder has the lock; errors of the file system.
 */
export async function acquireLock(path: string): Promise<FileLock> {
  try {
    return await FileLock.acquire(path);
  } catch (cause) {
    if (!(cause instanceof FileInUseError)) throw cause;
    const { message, hint } = cause;
    throw new MemoryStoreError(message, { operation: "open" }, { hint });
  }
}
