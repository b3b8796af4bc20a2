import { resolve } from "node:path";
import { ValidationError } from "../../../contracts/errors.js";
import type { SqlDatabase } from "./sql-database.js";
import { PgliteDatabase } from "./pglite-database.js";
import { PostgresDatabase } from "./postgres-database.js";

/** The address of a server, or the folder of PGlite. An in-memory database has no folder. */
export type SqlPlace =
  | { readonly kind: "postgres"; readonly url: string; readonly timeoutMs: number }
  | { readonly kind: "pglite"; readonly folder: string | undefined };

/** The options of a user. */
export interface GivenPlace {
  readonly url: string;
  /** For servers only. */
  readonly timeoutMs?: number | undefined;
}

function pglitePlace(what: string, folder: string): SqlPlace {
  if (folder.trim() === "" || folder.includes("\0"))
    throw new ValidationError(`${what} url 'pglite:' must be followed by a folder or 'memory'`);
  return { kind: "pglite", folder: folder === "memory" ? undefined : resolve(folder) };
}

/**
 * Returns the database of a URL. A URL may contain a password, so messages contain only its scheme.
 * @throws ValidationError for a URL of another kind, and for a `timeoutMs` of PGlite.
 */
export function sqlPlace(what: string, given: GivenPlace, defaultTimeoutMs: number): SqlPlace {
  const { url, timeoutMs } = given;
  if (typeof url !== "string" || url.trim() === "")
    throw new ValidationError(`${what} url must not be blank`);
  if (url.startsWith("pglite:")) {
    if (timeoutMs !== undefined)
      throw new ValidationError(`${what} timeoutMs is for servers: leave it out with pglite:`);
    return pglitePlace(what, url.slice("pglite:".length));
  }
  if (/^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url))
    return { kind: "postgres", url, timeoutMs: timeoutMs ?? defaultTimeoutMs };
  const scheme = /^[a-z]{1,20}:/i.exec(url)?.[0] ?? "no scheme";
  throw new ValidationError(
    `${what} url must be an address like postgres://user@host:5432/database, pglite:./folder or pglite:memory, got: ${scheme}`,
    {
      hint: "Characters such as @, / and # in a user's name or password must be percent-encoded.",
    },
  );
}

/**
 * Returns the database of a place. Does not load a client or connect. `vectors`: PGlite loads the
 * extension pgvector.
 */
export function databaseAt(place: SqlPlace, vectors: boolean): SqlDatabase {
  return place.kind === "postgres"
    ? new PostgresDatabase(place.url, place.timeoutMs)
    : new PgliteDatabase(place.folder, vectors);
}
