import type { PgliteDatabase } from "../../src/plugins/shared/sql/pglite-database.js";

/** A view of a database that several stores of a test file use. Closing the view leaves the database open, since starting PGlite takes seconds. */
export function sharedPglite(database: PgliteDatabase): PgliteDatabase {
  return Object.assign(Object.create(database) as PgliteDatabase, {
    name: "PGlite",
    query: database.query.bind(database),
    transaction: database.transaction.bind(database),
    locked: database.locked.bind(database),
    close: () => Promise.resolve(),
  });
}
