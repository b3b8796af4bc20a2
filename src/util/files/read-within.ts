/**
 * Reads a file of at most `maxBytes` bytes. Returns the size of a larger file instead, without
 * reading it.
 * @throws errors of the file system; Error for a folder, a pipe or a device.
 */
export async function readWithin(
  path: string,
  maxBytes: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | number> {
  const { readFile, stat } = await import("node:fs/promises");
  const found = await stat(path);
  if (!found.isFile()) throw new Error("it is not a file");
  if (found.size > maxBytes) return found.size;
  const bytes = await readFile(path, { signal });
  return bytes.length > maxBytes ? bytes.length : bytes;
}
