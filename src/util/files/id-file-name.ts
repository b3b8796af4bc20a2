import { createHash } from "node:crypto";

const MAX_NAME_LENGTH = 120;
/** Device names that Windows reserves, with any extension. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
/**
 * Ids that can be file names unchanged. Capital letters are excluded, because some systems ignore
 * case.
 */
const PLAIN = /^[a-z0-9_][a-z0-9._-]*$/;
/** The end of names with a hash. */
const HASHED = /-[0-9a-f]{16}$/;

/**
 * Returns the file name for an id, without the folder. `extension` begins with a dot. Different ids
 * have different file names: a part of its hash extends an id that is not a valid name. `fallback`
 * replaces an id without any valid character.
 */
export function fileNameOfId(id: string, extension: string, fallback: string): string {
  const room = MAX_NAME_LENGTH - extension.length;
  const isPlain = PLAIN.test(id) && id.length <= room;
  if (isPlain && !RESERVED.test(id) && !HASHED.test(id)) return `${id}${extension}`;
  const hash = createHash("sha256").update(id).digest("hex").slice(0, 16);
  const safe = id.replace(/[^A-Za-z0-9._-]/g, "_").replace(/^[.-]+/, "_");
  const kept = RESERVED.test(safe) ? `_${safe}` : safe || fallback;
  return `${kept.slice(0, room - hash.length - 1)}-${hash}${extension}`;
}
