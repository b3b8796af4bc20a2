// Single entries of a journal, compared with plain writes of the same bytes.
import { mkdtempSync, rmSync } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { Journal } from "agentensemble/durability";

/** Writes once. The data are on disk when the promise resolves. */
export type Write = () => Promise<unknown>;

/** A journal with a run, and a bare write to the same kind of place. */
export interface Writes {
  readonly entry: Write;
  readonly bare: Write;
  close(): Promise<void>;
}

/** The server of the tests. */
export const POSTGRES =
  process.env["AGENTENSEMBLE_TEST_POSTGRES"] ?? "postgres://postgres@127.0.0.1:5432/test";
const SCHEMA = `ae_bench_${process.pid}`;
const VALUE = { text: "A sentence of an answer that is kept. ".repeat(25) };

/** Returns an empty folder that is removed at the end of the process. */
export function benchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "agentensemble-bench-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function entriesOf(journal: Journal): Promise<Write> {
  const claim = await journal.claim({
    start: { runId: "r", ensemble: "bench", inputs: {}, inputsHash: "h", tags: {} },
    owner: "bench",
    leaseMs: 600_000,
    signal: new AbortController().signal,
  });
  let n = 0;
  return () =>
    journal.append(claim, {
      key: `C:task-${++n}@1/task/1`,
      kind: "call",
      task: `task-${n}@1`,
      hash: "0123456789abcdef",
      value: VALUE,
    });
}

export async function fileWrites(): Promise<Writes> {
  const folder = benchFolder();
  const journal = Journal.file(join(folder, "runs"));
  const file = await open(join(folder, "bare"), "w");
  const line = `${JSON.stringify({ place: "x".repeat(160), value: VALUE })}\n`;
  return {
    entry: await entriesOf(journal),
    bare: async () => {
      await file.write(line);
      await file.datasync();
    },
    close: async () => {
      await journal.close();
      await file.close();
    },
  };
}

/** Returns writes on the server of the tests. Returns `undefined` without a server. */
export async function sqlWrites(): Promise<Writes | undefined> {
  const client = new Client({ connectionString: POSTGRES, connectionTimeoutMillis: 2_000 });
  try {
    await client.connect();
  } catch {
    return undefined;
  }
  const journal = Journal.sql({ url: POSTGRES, schema: SCHEMA });
  const entry = await entriesOf(journal);
  await client.query(
    `create table "${SCHEMA}".bare (run text, key text, value jsonb, primary key (run, key))`,
  );
  let n = 0;
  const insert = `insert into "${SCHEMA}".bare values ($1, $2, $3)`;
  return {
    entry,
    bare: () => client.query(insert, ["r", `C:task-${++n}@1/task/1`, JSON.stringify(VALUE)]),
    close: async () => {
      await journal.close();
      await client.query(`drop schema "${SCHEMA}" cascade`);
      await client.end();
    },
  };
}

/** Returns the bytes per entry that a journal in a folder adds to the JSON of a value. */
export async function addedBytes(): Promise<number> {
  const folder = benchFolder();
  const journal = Journal.file(folder);
  const write = await entriesOf(journal);
  const [name = ""] = (await readdir(folder)).filter((file) => file.endsWith(".jsonl"));
  const path = join(folder, name);
  const { size } = await stat(path);
  for (let i = 0; i < 100; i++) await write();
  const grown = (await stat(path)).size - size;
  await journal.close();
  return grown / 100 - JSON.stringify(VALUE).length;
}
