import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { inspect } from "node:util";
import type { SharedMemoryStore } from "../../../../src/contracts/memory.js";
import { keepLastEntries } from "../../../../src/contracts/memory-scope.js";
import { MemoryConflictError, MemoryStoreError } from "../../../../src/contracts/state-errors.js";
import { hashedBagOfWords } from "../../../../src/plugins/memory/embeddings/index.js";
import { sqlMemoryStore, type SqlMemoryOptions } from "../../../../src/plugins/memory/sql/index.js";
import { memoryStoreContract } from "../../../../src/testing.js";
import { projectRoot } from "../../../support/project.js";
import { rejection, rejectionOf } from "../../../support/rejection.js";
import { dropTables, needPostgres, onServer, POSTGRES_URL } from "../../../support/postgres.js";
import { pause, until } from "../../../support/time.js";

const at = new Date(1_767_225_600_000);
const prefix = `ae_test_${process.pid}`;
/** Sessions of this run are identified by their name, since others may use the server. */
const url = `${POSTGRES_URL}${POSTGRES_URL.includes("?") ? "&" : "?"}application_name=${prefix}`;
const sessions = `select pid from pg_stat_activity where application_name = '${prefix}'`;
const locks = `select pid from pg_locks where locktype = 'advisory' and pid in (${sessions})`;
let tables = 0;

/** The open and the created resources of one test. */
const stores: SharedMemoryStore[] = [];
const made: string[] = [];

function tableName(): string {
  const name = `${prefix}_${++tables}`;
  made.push(name);
  return name;
}

function open(options: Partial<SqlMemoryOptions> = {}): SharedMemoryStore {
  const store = sqlMemoryStore({ url, table: options.table ?? tableName(), ...options });
  stores.push(store);
  return store;
}

/** Another process that runs `body` with the store of the table, and returns its output. */
async function inOtherProcess(table: string, body: string): Promise<string> {
  const program = `import { sqlMemoryStore } from "agentensemble/memory";
    const store = sqlMemoryStore(${JSON.stringify({ url, table })});
    const entry = (content) => ({ content, storedAt: new Date() });
    const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    ${body}
    await store.close();`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: projectRoot,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (part: string) => (text += part));
  await once(child, "close");
  return text;
}

describe("sqlMemoryStore on PostgreSQL", () => {
  before(async function () {
    await needPostgres(this);
  });
  afterEach(async () => {
    await Promise.all(stores.splice(0).map(async (store) => store.close?.()));
    await dropTables(...made.splice(0));
  });

  memoryStoreContract("the contract", {
    create: () => {
      const table = tableName();
      return {
        store: open({ table }),
        reopen: () => open({ table }),
        another: () => open({ table }),
      };
    },
    shared: true,
    reopens: true,
  });

  it("is consistent with another process: no write is lost, and versions count all writes", async () => {
    const table = tableName();
    const body = (name: string): string => `
      for (let i = 0; i < 15; i++) {
        for (;;) {
          const { version } = await store.retrieveVersioned("s", "", 1);
          try { await store.storeIf("s", entry("${name} " + i), version); break; }
          catch (error) { if (error.code !== "AE_MEMORY_CONFLICT") throw error; }
        }
        await store.store("plain", entry("${name} " + i));
      }`;
    const said = await Promise.all([
      inOtherProcess(table, body("one")),
      inOtherProcess(table, body("two")),
    ]);
    expect(said).to.deep.equal(["", ""]);
    const store = open({ table });
    for (const scope of ["s", "plain"]) {
      const { entries, version } = await store.retrieveVersioned(scope, "", 100);
      expect(version).to.equal(30);
      expect(new Set(entries.map(({ content }) => content)).size).to.equal(30);
      for (const name of ["one", "two"]) {
        const mine = entries
          .map(({ content }) => content)
          .filter((content) => content.startsWith(name));
        expect(mine).to.deep.equal(Array.from({ length: 15 }, (_, i) => `${name} ${i}`));
      }
    }
  });

  it("shares its locks with another process, and the death of a process releases them", async () => {
    const table = tableName();
    const store = open({ table });
    await store.store("s", { content: "first", storedAt: at });
    const dying = inOtherProcess(
      table,
      `await store.withLock("s", async () => { await store.store("s", entry("locked")); await pause(1500); process.exit(); });`,
    );
    await until(async () => (await store.retrieve("s", "", 5)).length >= 2);
    const error = await rejectionOf(
      MemoryStoreError,
      store.withLock("s", async () => 1, { timeoutMs: 100 }),
    );
    expect([error.operation, error.scope]).to.deep.equal(["withLock", "s"]);
    expect(await store.withLock("other", async () => 2)).to.equal(2);
    expect(await store.withLock("s", async () => 3)).to.equal(3);
    expect(await dying).to.equal("");
  });

  it("reports a lock that was lost during the work, and leaves no open session", async () => {
    const store = open();
    const locked = store.withLock("s", async () => {
      await onServer(`select pg_terminate_backend(pid) from (${locks}) as held`);
      await pause(100);
      return 1;
    });
    expect((await rejectionOf(MemoryStoreError, locked)).message).to.match(
      /connection that had the lock broke/,
    );
    expect(await store.withLock("s", async () => 2)).to.equal(2);
    const mine = new Error("mine");
    expect(await rejection(store.withLock("s", () => Promise.reject(mine)))).to.equal(mine);
    expect(await onServer(locks)).to.deep.equal([]);
  });

  it("reports a lost connection, and connects again with the next call", async () => {
    const store = open();
    await store.store("s", { content: "kept", storedAt: at });
    expect(await onServer(sessions)).not.to.be.empty;
    await onServer(`select pg_terminate_backend(pid) from (${sessions}) as mine`);
    await Promise.allSettled([store.retrieve("s", "", 1), store.retrieve("s", "", 1)]);
    expect((await store.retrieve("s", "", 1))[0]?.content).to.equal("kept");
  });

  it("creates its tables again after they were dropped", async () => {
    const table = tableName();
    const store = open({ table });
    await store.store("s", { content: "gone", storedAt: at });
    await dropTables(table);
    expect(
      (await rejectionOf(MemoryStoreError, store.store("s", { content: "lost", storedAt: at })))
        .message,
    ).to.include("does not exist");
    await store.store("s", { content: "new", storedAt: at });
    expect(await store.retrieveVersioned("s", "", 5)).to.deep.include({ version: 1 });
  });

  it("creates its tables once if many stores begin at the same time", async () => {
    const table = tableName();
    await Promise.all(
      Array.from({ length: 8 }, () => open({ table }).store("s", { content: "x", storedAt: at })),
    );
    expect((await open({ table }).retrieveVersioned("s", "", 100)).version).to.equal(8);
  });

  it("evicts only entries that it has read, and no entry that was added in the meantime", async () => {
    const table = tableName();
    const [store, other] = [open({ table }), open({ table })];
    for (const content of ["a", "b", "c"]) await store.store("s", { content, storedAt: at });
    await Promise.all([
      store.evict("s", keepLastEntries(1)),
      other.store("s", { content: "d", storedAt: at }),
      other.evict("s", keepLastEntries(1)),
    ]);
    expect((await store.retrieve("s", "", 10)).map(({ content }) => content)).to.include("d");
  });

  it("describes how to install pgvector if a model requires it and the server does not have it", async function () {
    if ((await onServer("select 1 from pg_available_extensions where name = 'vector'")).length > 0)
      this.skip();
    const table = tableName();
    const store = open({ table, model: hashedBagOfWords() });
    for (const work of [
      () => store.store("s", { content: "x", storedAt: at }),
      () => store.retrieve("s", "q", 1),
      () => store.clear("s"),
    ]) {
      const error = await rejectionOf(MemoryStoreError, work());
      expect(error.message).to.match(/PostgreSQL at .* has no pgvector/);
      expect(error.hint)
        .to.include("CREATE EXTENSION vector")
        .and.to.include("postgresql-NN-pgvector");
    }
    expect(await onServer(`select to_regclass('${table}') as "table"`)).to.deep.equal([
      { table: null },
    ]);
  });

  it("refuses a table of another program", async () => {
    const table = tableName();
    await onServer(`create table ${table} (name text)`);
    const error = await rejectionOf(
      MemoryStoreError,
      open({ table }).store("s", { content: "x", storedAt: at }),
    );
    expect(error.message).to.include(table).and.to.include("no column id, scope, entry");
    expect(await onServer(`select * from ${table}`)).to.deep.equal([]);
  });

  it("stores names and texts with any content unchanged", async () => {
    const store = open();
    const bad = `'); drop table ${made[0] ?? ""}; -- "$1"`;
    await store.store(bad, { content: bad, storedAt: at, metadata: { [bad]: bad } });
    expect((await store.retrieve(bad, bad, 1))[0]?.metadata).to.deep.equal({ [bad]: bad });
    await store.clear(bad);
    expect((await store.retrieveVersioned(bad, "", 1)).version).to.equal(2);
  });

  it("stays closed, and can be closed twice", async () => {
    const store = open();
    await store.store("s", { content: "x", storedAt: at });
    await store.close?.();
    await store.close?.();
    expect((await rejectionOf(MemoryStoreError, store.retrieve("s", "", 1))).message).to.include(
      "closed",
    );
  });

  it("reports conflicts with the expected version", async () => {
    const store = open();
    expect(await store.storeIf("s", { content: "a", storedAt: at }, 0)).to.equal(1);
    const error = await rejectionOf(
      MemoryConflictError,
      store.storeIf("s", { content: "b", storedAt: at }, 0),
    );
    expect([error.scope, error.expectedVersion]).to.deep.equal(["s", 0]);
  });
});

describe("sqlMemoryStore without a server that answers", () => {
  it("reports the address and the reason of a failed connection, without the password", async () => {
    const store = sqlMemoryStore({ url: "postgres://me:hunter2@127.0.0.1:1/memories" });
    const error = await rejectionOf(MemoryStoreError, store.retrieve("s", "", 1));
    expect(error.message)
      .to.include("PostgreSQL at 127.0.0.1:1/memories")
      .and.to.include("ECONNREFUSED");
    for (const shown of [
      inspect(error, { depth: 10 }),
      inspect(store, { depth: 10, showHidden: true }),
    ])
      expect(shown).not.to.include("hunter2");
    await store.close?.();
  });

  it("fails after timeoutMs if the server sends nothing", async () => {
    const sockets: Socket[] = [];
    const silent: Server = createServer((socket) => sockets.push(socket)).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const address = silent.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const store = sqlMemoryStore({ url: `postgres://me@127.0.0.1:${port}/db`, timeoutMs: 200 });
    await rejectionOf(MemoryStoreError, store.clear("s"));
    await rejectionOf(
      MemoryStoreError,
      store.withLock("s", async () => 1),
    );
    await store.close?.();
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});
