import { formatBytes } from "./format.js";

/**
 * Describes the images and files of an entry, one line each: `[file: application/pdf, 1.3 MB,
 * paper.pdf]`.
 */
export function fileLines(parts: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(parts) ? parts : [];
  return list.map((part) => {
    // `part` is JSON.
    const { type, mediaType, bytes, name } = (part ?? {}) as Readonly<Record<string, unknown>>;
    const kind = [type, mediaType].filter((text) => typeof text === "string").join(": ");
    const size = typeof bytes === "number" ? [formatBytes(bytes)] : [];
    return `[${[kind, ...size, ...(typeof name === "string" ? [name] : [])].join(", ")}]`;
  });
}
