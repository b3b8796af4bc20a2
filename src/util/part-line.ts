import { asFields, asList } from "./objects.js";

/** The fields of a file that its line shows. */
interface ShownPart {
  readonly type: string;
  readonly mediaType?: string | undefined;
  readonly bytes?: number | undefined;
  readonly name?: string | undefined;
}

/**
 * Describes an image or a file in one line, for people: `[file: application/pdf, 1.2 MB, a.pdf]`.
 */
export function partLine({ type, mediaType = "unknown type", bytes, name }: ShownPart): string {
  const size = bytes === undefined ? [] : [sizeText(bytes)];
  return `[${[`${type}: ${mediaType}`, ...size, ...(name === undefined ? [] : [name])].join(", ")}]`;
}

/**
 * Describes the images and files of a JSON document. Returns an empty list if `parts` is not a
 * list.
 */
export function partLines(parts: unknown): readonly string[] {
  return asList(parts).flatMap((part) => {
    const { type, mediaType, bytes, name } = asFields(part) ?? {};
    if (typeof type !== "string" || type === "text") return [];
    return [
      partLine({
        type,
        ...(typeof mediaType === "string" && { mediaType }),
        ...(typeof bytes === "number" && { bytes }),
        ...(typeof name === "string" && { name }),
      }),
    ];
  });
}

function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000
    ? `${(bytes / 1_000).toFixed(1)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
