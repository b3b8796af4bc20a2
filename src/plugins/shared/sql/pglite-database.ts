import type { SqlDatabase, SqlRow, SqlValue } from "./sql-database.js";
import { MemoryStoreError } from "../../../contracts/state-errors.js";
import { makeFolder } from "../../../util/files/make-folder.js";
import type { FileLock } from "../../../util/files/file-lock.js";
import { addressOfOptional } from "../../../util/import-optional.js";
import { acquireLock } from "../files/acquire-lock.js";
import { Thread } from "../processes/thread.js";
import { missingPackage } from "./missing-package.js";

// Runs in a thread, because starting PGlite takes seconds and each statement blocks.
const PROGRAM = `
let opening;
async function open() {
  const { PGlite } = await import(workerData.pglite);
  const extensions = workerData.vector === undefined ? {} : { vector: (await import(workerData.vector)).vector };
  return PGlite.create({ ...(workerData.folder === undefined ? {} : { dataDir: workerData.folder }), extensions });
}
const database = () => (opening ??= open());
serve({
  async query(text, values) {
    return (await (await database()).query(text, values)).rows;
  },
  async transaction(script) {
    await (await database()).transaction(async (transaction) => void (await transaction.exec(script)));
  },
  async close() {
    if (opening !== undefined) await (await opening).close();
  },
});
`;

/**
 * Returns the address of a package, which the thread imports.
 * @throws ValidationError if it is not installed.
 */
function findPackage(name: string): string {
  try {
    return addressOfOptional(name);
  } catch (cause) {
    throw missingPackage(name, cause);
  }
}

interface Opened {
  readonly thread: Thread;
  readonly lock?: FileLock;
}

/**
 * PostgreSQL inside this process. Only one store may use a folder: PGlite would admit a second
 * process, and both would damage the data.
 */
export class PgliteDatabase implements SqlDatabase {
  readonly name: string;
  readonly #folder: string | undefined;
  readonly #vectors: boolean;
  #opened: Promise<Opened> | undefined;

  constructor(folder: string | undefined, vectors: boolean) {
    this.name = folder === undefined ? "PGlite in memory" : `PGlite in ${folder}`;
    this.#folder = folder;
    this.#vectors = vectors;
  }

  async query(text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    return (await this.#call("query", text, values)) as readonly SqlRow[]; // all columns are cast to text
  }

  async transaction(script: string): Promise<void> {
    await this.#call("transaction", script);
  }

  /** Calls `work` directly, because there is no other session. */
  async locked<T>(_name: string, _timeoutMs: number, work: () => Promise<T>): Promise<T> {
    return work();
  }

  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined); // the caller that opened it received the error
    this.#opened = undefined;
    if (opened === undefined) return;
    try {
      if (opened.thread.alive) await opened.thread.call("close");
    } finally {
      await opened.thread.close();
      await opened.lock?.release();
    }
  }

  async #call(method: string, ...args: readonly unknown[]): Promise<unknown> {
    this.#opened ??= this.#open();
    let opened: Opened;
    try {
      opened = await this.#opened;
    } catch (error) {
      this.#opened = undefined; // the next call tries again
      throw error;
    }
    if ((await opened.lock?.isHeld()) === false) throw this.#lost();
    return opened.thread.call(method, ...args);
  }

  async #open(): Promise<Opened> {
    const packages = {
      pglite: findPackage("@electric-sql/pglite"),
      ...(this.#vectors && { vector: findPackage("@electric-sql/pglite-pgvector") }),
    };
    if (this.#folder === undefined) return { thread: new Thread(PROGRAM, packages) };
    await makeFolder(this.#folder);
    const lock = await acquireLock(`${this.#folder}.lock`);
    return { thread: new Thread(PROGRAM, { ...packages, folder: this.#folder }), lock };
  }

  #lost(): MemoryStoreError {
    return new MemoryStoreError(
      `${this.name}: the lock of the folder was removed or taken over, so another process may be writing there`,
      { operation: "open" },
      {
        hint: "Close this store, and make sure that no program removes the .lock file next to the folder.",
      },
    );
  }
}
