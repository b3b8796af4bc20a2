import { randomInt } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ConversationConflictError, ConversationStore } from "agentensemble";
import { expect } from "chai";
import fc from "fast-check";
import { storedTurn } from "../../../src/plugins/testing/conversation-store-turns.js";
import { PgliteDatabase } from "../../../src/plugins/shared/sql/pglite-database.js";
import { SqlThreads } from "../../../src/plugins/conversation/sql-store/sql-threads.js";
import { sharedPglite } from "../../support/shared-pglite.js";
import { needPostgres, onServer, POSTGRES_URL } from "../../support/postgres.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const RUNS = Number(process.env["INTERLEAVINGS"] ?? 1_000);
const WRITERS = 8;
/** Printed with the title; `FUZZ_SEED` repeats a run. */
const SEED = Number(process.env["FUZZ_SEED"] ?? randomInt(2 ** 31));

/** Two stores on one storage, as in two processes. */
type Pair = readonly [ConversationStore, ConversationStore];

/** Adds a turn after the newest version, again after each conflict. */
async function addTurn(store: ConversationStore, id: string, text: string): Promise<void> {
  for (;;) {
    const head = await store.open(id);
    const { version = 0, turns = 0 } = head ?? {};
    try {
      await store.append(id, { expectedVersion: version, turns: [storedTurn(turns, text)] });
      return;
    } catch (error) {
      if (!ConversationConflictError.isInstance(error)) throw error;
    }
  }
}

/** Writers that pause for random times between their turns, with locks or without. */
async function checkInterleavings(pair: Pair): Promise<void> {
  let thread = 0;
  const pauses = fc.array(fc.nat({ max: 6 }), { minLength: WRITERS, maxLength: WRITERS });
  await fc.assert(
    fc.asyncProperty(pauses, fc.boolean(), async (writers, withLock) => {
      const id = `thread-${++thread}`;
      const { signal } = new AbortController();
      await Promise.all(
        writers.map(async (pause, i) => {
          const store = pair[i % 2] ?? pair[0];
          for (let n = 0; n < 2; n++) {
            for (let k = 0; k < pause; k++) await nextTurn();
            const lock = withLock
              ? await store.lock?.(id, { timeoutMs: 60_000, signal })
              : undefined;
            await addTurn(store, id, `${i}-${n}`);
            await lock?.release();
          }
        }),
      );
      const head = await pair[0].open(id);
      expect(head).to.include({ version: WRITERS * 2, turns: WRITERS * 2 });
      const turns = await pair[1].read(id, { limit: 100 });
      expect(turns.map(({ n }) => n)).to.deep.equal([...turns.keys()]);
      expect(new Set(turns.map(({ messages }) => JSON.stringify(messages))).size).to.equal(
        WRITERS * 2,
      );
      await pair[0].delete(id);
    }),
    { numRuns: RUNS, seed: SEED },
  );
}

describe(`interleaved writes of one thread, seed ${SEED}`, function () {
  this.timeout(30 * 60_000);

  it("lose nothing in memory", async () => {
    const store = ConversationStore.inMemory();
    await checkInterleavings([store, store]);
  });

  it("lose nothing on PGlite", async () => {
    const database = new PgliteDatabase(undefined, false);
    const open = (): ConversationStore => new SqlThreads(sharedPglite(database), "interleavings");
    await checkInterleavings([open(), open()]);
    await database.close();
  });

  it("lose nothing in a folder", async () => {
    const folder = temporaryFolder();
    await checkInterleavings([ConversationStore.file(folder), ConversationStore.file(folder)]);
  });

  it("lose nothing on a PostgreSQL server", async function () {
    await needPostgres(this);
    const schema = `ae_interleavings_${process.pid}`;
    const open = (): ConversationStore => ConversationStore.sql({ url: POSTGRES_URL, schema });
    const pair: Pair = [open(), open()];
    await checkInterleavings(pair);
    for (const store of pair) await store.close?.();
    await onServer(`drop schema if exists "${schema}" cascade`);
  });
});
