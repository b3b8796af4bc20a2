import type { ThreadHead, ThreadPage, ThreadQuery } from "../../../contracts/conversation.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { checkThreadQuery } from "./checks.js";

/** The position of a thread in a list: the time of its last change, and its id. */
export type ThreadPlace = readonly [updatedAt: string, id: string];

/** Compares positions. The most recently changed thread comes first. */
function comparePlaces([atA, idA]: ThreadPlace, [atB, idB]: ThreadPlace): number {
  if (atA !== atB) return atA < atB ? 1 : -1;
  if (idA === idB) return 0;
  return idA < idB ? 1 : -1;
}

/** Returns the cursor of a position, which a caller passes back as `after`. */
function cursorOf({ updatedAt, id }: ThreadHead): string {
  return Buffer.from(JSON.stringify([updatedAt, id])).toString("base64url");
}

/** Returns the position of a cursor. @throws ValidationError for text that is not a cursor. */
export function placeOf(cursor: string): ThreadPlace {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (Array.isArray(place) && place.length === 2 && place.every((p) => typeof p === "string"))
      return place as unknown as ThreadPlace; // just checked
  } catch {
    // reported below
  }
  throw new ValidationError(
    `list() after must be the \`next\` of a page, got: ${preview(cursor, 60)}`,
  );
}

/** Returns a page of threads whose heads are all known. */
export function pageOf(heads: Iterable<ThreadHead>, query: ThreadQuery): ThreadPage {
  const limit = checkThreadQuery(query);
  const { owner, after } = query;
  const place = after === undefined ? undefined : placeOf(after);
  const found = [...heads]
    .filter((head) => owner === undefined || head.owner === owner)
    .filter((head) => place === undefined || comparePlaces(place, [head.updatedAt, head.id]) < 0)
    .sort((a, b) => comparePlaces([a.updatedAt, a.id], [b.updatedAt, b.id]));
  return cutPage(found, limit);
}

/** Returns a page of at most `limit` threads. `found` may have more than `limit`. */
export function cutPage(found: readonly ThreadHead[], limit: number): ThreadPage {
  const threads = Object.freeze(found.slice(0, limit));
  const last = threads.at(-1);
  return found.length > limit && last !== undefined
    ? { threads, next: cursorOf(last) }
    : { threads };
}
