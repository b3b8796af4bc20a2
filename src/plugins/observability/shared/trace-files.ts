import { createHash } from "node:crypto";

const MAX_NAME_LENGTH = 120;
/** Names that Windows keeps for devices, whatever the extension. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** The file name of a run, without folder. An id that had to be changed gets a piece of its hash, so that two ids never share a file. */
export function traceFileName(ensembleId: string, extension: string): string {
  const room = MAX_NAME_LENGTH - extension.length;
  const safe = ensembleId.replace(/[^A-Za-z0-9._-]/g, "_").replace(/^\.+/, "_");
  if (safe === ensembleId && safe !== "" && safe.length <= room && !RESERVED.test(safe))
    return `${safe}${extension}`;
  const hash = createHash("sha256").update(ensembleId).digest("hex").slice(0, 8);
  const kept = RESERVED.test(safe) ? `_${safe}` : safe;
  return `${kept.slice(0, room - hash.length - 1)}-${hash}${extension}`.replace(/^-/, "run-");
}
