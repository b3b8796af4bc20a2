import type { FileHandle } from "node:fs/promises";

/** Writes all bytes at a position: a file system may take a part of them at a time. @throws what the file system throws. */
export async function writeFully(file: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length;)
    done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
}
