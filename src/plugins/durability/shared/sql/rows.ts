import type {
  JournalEntry,
  JournalEntryKind,
  KeptEntry,
  KeptRun,
  RunResult,
  RunStart,
  RunStatus,
} from "../../../../contracts/journal.js";
import type { StoredReview } from "../../../../contracts/review.js";
import type { SqlRow, SqlValue } from "../../../shared/sql/sql-database.js";
import { JournalError } from "../../../../contracts/journal-errors.js";
import { asReviewDecision } from "../../../../contracts/review.js";
import { messageOf } from "../../../../util/errors.js";
import { jsonOf } from "../../../shared/json-data.js";
import { fromColumn, indexedKey, tagColumn, toColumn } from "../../../shared/sql/sql-text.js";

/** An entry as columns of a row. */
export interface EntryColumns {
  readonly key: string;
  /** The key if `key` is a digest, otherwise empty. */
  readonly fullKey: string;
  readonly kind: string;
  readonly task: string;
  /** Empty if the entry has no hash. */
  readonly hash: string;
  readonly covers: string;
  readonly value: string;
}

/** @throws ValidationError for a value that has no JSON form. */
export function entryColumns({ key, kind, task, hash, covers, value }: JournalEntry): EntryColumns {
  const indexed = indexedKey(key);
  const column = toColumn(key);
  return {
    key: indexed,
    fullKey: indexed === column ? "" : column,
    kind,
    task: toColumn(task),
    hash: toColumn(hash ?? ""),
    covers: String(covers === true),
    value: jsonOf(`The value of entry '${key}'`, value),
  };
}

/**
 * Returns the start of a run as values of a statement: ensemble, inputs and their hash, tags and
 * parent.
 */
export function startColumns(start: RunStart): readonly SqlValue[] {
  return [
    toColumn(start.ensemble),
    jsonOf("The inputs of a run", start.inputs),
    toColumn(start.inputsHash),
    Object.entries(start.tags).map(([name, value]) => tagColumn(name, value)),
    toColumn(start.parentRunId ?? ""),
  ];
}

/** @throws JournalError for a row that this version cannot read. */
export function entryFrom(row: SqlRow): KeptEntry {
  const { key, full_key: fullKey, kind, hash } = row;
  return {
    key: fromColumn(fullKey ?? key ?? ""),
    kind: kind as JournalEntryKind, // written by `entryColumns`
    task: fromColumn(row["task"] ?? ""),
    ...(typeof hash === "string" && { hash: fromColumn(hash) }),
    ...(row["covers"] === "true" && { covers: true }),
    value: parsedColumn(row["value"], `The entry '${key}'`),
    at: row["at"] ?? "",
    execution: Number(row["execution"]),
  };
}

/** @throws JournalError for a row that this version cannot read. */
export function runFrom(row: SqlRow): KeptRun {
  const runId = fromColumn(row["run_id"] ?? "");
  const what = `Run '${runId}'`;
  const optional = <Name extends string>(
    name: Name,
    column: string,
  ): { readonly [K in Name]?: string } => {
    const text = row[column];
    return (typeof text === "string" ? { [name]: fromColumn(text) } : {}) as {
      [K in Name]?: string;
    }; // TypeScript widens computed names
  };
  const { result } = row;
  return Object.freeze({
    runId,
    ensemble: fromColumn(row["ensemble"] ?? ""),
    inputs: parsedColumn(row["inputs"], what),
    inputsHash: fromColumn(row["inputs_hash"] ?? ""),
    tags: tagsFrom(row["tags"], what),
    ...optional("parentRunId", "parent_run_id"),
    status: row["status"] as RunStatus, // written by the statements
    startedAt: row["started_at"] ?? "",
    updatedAt: row["updated_at"] ?? "",
    executions: Number(row["executions"]),
    fruitlessExecutions: Number(row["fruitless"]),
    finishedTasks: Number(row["finished"]),
    ...optional("waitsFor", "waits_for"),
    ...optional("owner", "owner"),
    ...optional("cancelReason", "cancel_reason"),
    // `release` wrote the result.
    ...(typeof result === "string" && { result: parsedColumn(result, what) as RunResult }),
  });
}

function tagsFrom(text: string | null | undefined, what: string): Readonly<Record<string, string>> {
  const tags = parsedColumn(text, what) as readonly string[]; // a result of `array_to_json`
  return Object.fromEntries(
    // `tagColumn` wrote the text.
    tags.map((tag) => parsedColumn(tag, what) as readonly [string, string]),
  );
}

/** @throws JournalError for a row that this version cannot read. */
export function reviewFrom(row: SqlRow): StoredReview {
  const what = `Review '${row["review_id"]}'`;
  const { decision, decided_at: decidedAt } = row;
  const request = parsedColumn(row["request"], what) as StoredReview; // written by `ask`
  return Object.freeze({
    ...request,
    ...(typeof decision === "string" && {
      decision: asReviewDecision(parsedColumn(decision, what)),
    }),
    ...(typeof decidedAt === "string" && { decidedAt }),
  });
}

function parsedColumn(text: string | null | undefined, what: string): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch (cause) {
    throw new JournalError(`${what} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
