import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { ValidationError } from "../../../contracts/errors.js";
import { requireText } from "../../../contracts/validation.js";
import { messageOf } from "../../../util/errors.js";
import { writeFileAtomically } from "../../../util/files/atomic-write.js";

const MAX_NAME_LENGTH = 120;
/** Names that Windows keeps for devices, whatever the extension. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
/** Ids that may be a name as they are. Capital letters may not: some systems take them for small ones. */
const PLAIN = /^[a-z0-9_][a-z0-9._-]*$/;
/** The end of names that hold a hash. */
const HASHED = /-[0-9a-f]{16}$/;

/** The file name of a run, without folder. Two ids never share a file: an id that can't be a name as it is gets a part of its hash. */
export function traceFileName(ensembleId: string, extension: ".trace.json" | ".dag.json"): string {
  const room = MAX_NAME_LENGTH - extension.length;
  const isPlain = PLAIN.test(ensembleId) && ensembleId.length <= room;
  if (isPlain && !RESERVED.test(ensembleId) && !HASHED.test(ensembleId))
    return `${ensembleId}${extension}`;
  const hash = createHash("sha256").update(ensembleId).digest("hex").slice(0, 16);
  const safe = ensembleId.replace(/[^A-Za-z0-9._-]/g, "_").replace(/^[.-]+/, "_");
  const kept = RESERVED.test(safe) ? `_${safe}` : safe || "run";
  return `${kept.slice(0, room - hash.length - 1)}-${hash}${extension}`;
}

/**
 * Writes a text, given in pieces, into a file of its own or replaces an older one: a reader sees the old text or the new one.
 * @throws ValidationError that names the path when it cannot be written.
 */
export async function writeTraceFile(path: string, pieces: Iterable<string>): Promise<void> {
  requireText(path, "The path of a trace file must not be blank");
  const target = resolve(path);
  try {
    await writeFileAtomically(target, pieces);
  } catch (cause) {
    throw new ValidationError(`Cannot write the trace to '${target}': ${messageOf(cause)}`, {
      cause,
      hint: "Choose a path that this process may write to.",
    });
  }
}
