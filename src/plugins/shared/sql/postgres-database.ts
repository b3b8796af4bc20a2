import type { Client, ClientConfig, Pool } from "pg";
import type { SqlDatabase, SqlRow, SqlValue } from "./sql-database.js";
import { importOptional } from "../../../util/import-optional.js";
import { missingPackage } from "./missing-package.js";
import { sqlState } from "./sql-database.js";

interface Driver {
  readonly Client: typeof Client;
  readonly Pool: typeof Pool;
}

const MOST_CONNECTIONS = 10;
const LOCK_NOT_AVAILABLE = "55P03";

async function loadDriver(): Promise<Driver> {
  try {
    return (await importOptional<{ readonly default: Driver }>("pg")).default;
  } catch (cause) {
    throw missingPackage("pg", cause);
  }
}

/** A PostgreSQL server. Its pool opens connections on demand and replaces broken ones. */
export class PostgresDatabase implements SqlDatabase {
  readonly name: string;
  readonly #config: ClientConfig;
  readonly #timeoutMs: number;
  #driver: Promise<Driver> | undefined;
  #pool: Pool | undefined;

  constructor(url: string, timeoutMs: number) {
    const { hostname, port, pathname } = new URL(url);
    this.name = `PostgreSQL at ${hostname || "the local socket"}:${port || "5432"}${pathname}`;
    this.#timeoutMs = timeoutMs;
    this.#config = {
      connectionString: url,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      keepAlive: true,
      application_name: "agentensemble",
    };
  }

  async query(text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    const pool = await this.#connections();
    return (await pool.query<SqlRow>(text, [...values])).rows;
  }

  async transaction(script: string): Promise<void> {
    const client = await (await this.#connections()).connect();
    let broken = true;
    try {
      await client.query(`begin; ${script} commit;`);
      broken = false;
    } finally {
      client.release(broken); // only the end of the session guarantees a rollback
    }
  }

  /**
   * A separate session holds the lock. The lock is released when the session ends for any reason.
   */
  async locked<T>(
    name: string,
    timeoutMs: number,
    work: () => Promise<T>,
    late: (cause: unknown) => Error,
  ): Promise<T> {
    const { Client: Session } = await this.#loaded();
    const session = new Session({
      ...this.#config,
      query_timeout: Math.ceil(timeoutMs + this.#timeoutMs),
    });
    let lost: Error | undefined;
    session.on("error", (error) => (lost ??= error));
    try {
      await session.connect();
      await takeLock(session, name, timeoutMs, late);
      const result = await work();
      if (lost !== undefined)
        throw new Error(`the connection that had the lock broke during the work: ${lost.message}`, {
          cause: lost,
        });
      return result;
    } finally {
      await session.end();
    }
  }

  async listen(
    channel: string,
    heard: (text: string) => void,
    ended: () => void,
  ): Promise<() => Promise<void>> {
    const { Client: Session } = await this.#loaded();
    const session = new Session(this.#config);
    session.on("error", () => undefined); // an `end` event follows
    session.on("end", ended);
    session.on("notification", ({ payload }) => heard(payload ?? ""));
    // the types of pg omit these methods
    const hold = session as unknown as { ref(): void; unref(): void };
    try {
      await session.connect();
      await session.query(`listen "${channel}"`);
      hold.unref(); // notifications alone do not keep the process alive
    } catch (error) {
      await session.end();
      throw error;
    }
    return () => {
      hold.ref(); // the process stays until the connection is closed
      return session.end();
    };
  }

  async close(): Promise<void> {
    await this.#pool?.end();
  }

  async #loaded(): Promise<Driver> {
    this.#driver ??= loadDriver();
    try {
      return await this.#driver;
    } catch (error) {
      this.#driver = undefined; // the package may be installed before the next call
      throw error;
    }
  }

  async #connections(): Promise<Pool> {
    const driver = await this.#loaded();
    if (this.#pool === undefined) {
      this.#pool = new driver.Pool({
        ...this.#config,
        max: MOST_CONNECTIONS,
        allowExitOnIdle: true,
      });
      // The pool removes an idle connection that breaks, and replaces it on demand. No query is
      // affected.
      this.#pool.on("error", () => undefined);
    }
    return this.#pool;
  }
}

async function takeLock(
  session: Client,
  name: string,
  timeoutMs: number,
  late: (cause: unknown) => Error,
): Promise<void> {
  try {
    await session.query("select set_config('lock_timeout', $1, false)", [
      String(Math.ceil(timeoutMs)),
    ]);
    await session.query(
      "select pg_advisory_lock(hashtextextended($1 || '/' || current_schema(), 0))",
      [name],
    );
  } catch (error) {
    throw sqlState(error) === LOCK_NOT_AVAILABLE ? late(error) : error;
  }
}
