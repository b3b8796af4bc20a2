import type { FileHandle } from "node:fs/promises";

/**
 * Writes all bytes at a position, in several steps if the file system writes only a part at a time.
 * @throws errors of the file system.
 */
export async function writeFully(file: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length;)
    done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
}
