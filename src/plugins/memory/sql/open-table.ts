import type { Doing, TextVectors } from "../shared/text-vectors.js";
import type { SqlDatabase } from "../../shared/sql/sql-database.js";
import type { Statements } from "./statements.js";
import { MemoryStoreError } from "../../../contracts/state-errors.js";
import { databaseReason, sqlState } from "../../shared/sql/sql-database.js";
import { migration } from "./statements.js";

const COLUMNS = ["id", "scope", "entry"];
const MOST_DIMENSIONS = 16_000;
// Error codes for an unsupported feature, an undefined file and an undefined object: servers
// without an extension's files return them.
const NO_EXTENSION = ["0A000", "58P01", "42704"];
const NO_PRIVILEGE = "42501";

/** Requirements for the table of a store. */
export interface WantedTable {
  readonly name: string;
  readonly statements: Statements;
  readonly texts: TextVectors | undefined;
}

/**
 * Checks that the table exists and fits, and creates it if it is missing.
 * @throws MemoryStoreError for a table with vectors of another length, and for a table that this
 * store did not create
 */
export async function openTable(
  database: SqlDatabase,
  table: WantedTable,
  doing: Doing,
): Promise<void> {
  let columns = await columnsOf(database, table);
  if (columns.size === 0) {
    await createTable(database, table, doing);
    columns = await columnsOf(database, table);
  }
  const dimensions = await table.texts?.dimensions(doing);
  const misfit = misfitOf(table.name, columns, dimensions);
  if (misfit !== undefined)
    throw new MemoryStoreError(
      `${database.name}: the table ${table.name} ${misfit.problem}`,
      doing,
      { hint: misfit.hint },
    );
}

async function columnsOf(
  database: SqlDatabase,
  { name, statements }: WantedTable,
): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query(statements.columns, [`"${name}"`]);
  return new Map(rows.map((row) => [row["name"] ?? "", row["type"] ?? ""]));
}

function misfitOf(
  name: string,
  columns: ReadonlyMap<string, string>,
  dimensions: number | undefined,
): { readonly problem: string; readonly hint: string } | undefined {
  const missing = COLUMNS.filter((column) => !columns.has(column));
  if (missing.length > 0) {
    return {
      problem: `is none of this store's: it has no column ${missing.join(", ")}`,
      hint: "Choose another name with the option table.",
    };
  }
  const type = columns.get("embedding");
  if (dimensions === undefined) {
    if (type === undefined) return undefined;
    return {
      problem: `keeps a ${type} for each entry, so it needs a model`,
      hint: "Give the option model, or another table.",
    };
  }
  if (type === undefined) {
    return {
      problem: "was created without a model and has no vectors",
      hint: "Leave the option model out, or give another table.",
    };
  }
  if (type.endsWith(`vector(${dimensions})`)) return undefined;
  return {
    problem: `keeps a ${type} for each entry, and the model's vectors have ${dimensions} numbers`,
    hint: `Use the model with which ${name} was created, or another table.`,
  };
}

async function createTable(
  database: SqlDatabase,
  { name, texts }: WantedTable,
  doing: Doing,
): Promise<void> {
  const dimensions = await texts?.dimensions(doing);
  if (dimensions !== undefined && dimensions > MOST_DIMENSIONS) {
    throw new MemoryStoreError(
      `The model's vectors have ${dimensions} numbers, and pgvector keeps at most ${MOST_DIMENSIONS}`,
      doing,
    );
  }
  try {
    await database.transaction(migration(name, dimensions));
  } catch (cause) {
    throw dimensions === undefined ? cause : withoutExtension(database, cause, doing);
  }
}

/** Returns the same error, or a clearer one if pgvector is not available. */
function withoutExtension(database: SqlDatabase, cause: unknown, doing: Doing): unknown {
  const state = sqlState(cause) ?? "";
  if (NO_EXTENSION.includes(state)) {
    return new MemoryStoreError(
      `${database.name} has no pgvector, which finding by meaning needs: ${databaseReason(cause)}`,
      doing,
      {
        cause,
        hint: "Install pgvector on the server (Debian: apt install postgresql-NN-pgvector), then run CREATE EXTENSION vector in the database. Without the option model the store needs no extension.",
      },
    );
  }
  if (state === NO_PRIVILEGE) {
    return new MemoryStoreError(
      `${database.name} does not let this user prepare the memory: ${databaseReason(cause)}`,
      doing,
      {
        cause,
        hint: "Have an administrator run CREATE EXTENSION vector in the database and GRANT CREATE ON SCHEMA public to the user.",
      },
    );
  }
  return cause;
}
