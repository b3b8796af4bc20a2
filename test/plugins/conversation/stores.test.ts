import { appendFile, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  ConversationStore,
  ConversationStoreError,
  FileFormatError,
  ValidationError,
} from "agentensemble";
import { conversationStoreContract } from "agentensemble/testing";
import { expect } from "chai";
import { SqlThreads } from "../../../src/plugins/conversation/sql-store/sql-threads.js";
import { PgliteDatabase } from "../../../src/plugins/shared/sql/pglite-database.js";
import {
  fill,
  storedTurn,
  textsIn,
} from "../../../src/plugins/testing/conversation-store-turns.js";
import type { StoredTurn } from "agentensemble";
import { needPostgres, onServer, POSTGRES_URL, testsPglite } from "../../support/postgres.js";
import { failuresOf } from "../testing/failures-of.js";
import { rejectionOf } from "../../support/rejection.js";
import { sharedPglite } from "../../support/shared-pglite.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { warningsOf } from "../../support/warnings.js";

conversationStoreContract("ConversationStore.inMemory()", {
  create: () => ({ store: ConversationStore.inMemory() }),
});

conversationStoreContract("ConversationStore.file()", {
  create: () => {
    const folder = temporaryFolder();
    return {
      store: ConversationStore.file(folder),
      reopen: () => ConversationStore.file(folder),
    };
  },
  reopens: true,
  turns: 200,
});

if (await testsPglite())
  describe("on PGlite", () => {
    const database = new PgliteDatabase(undefined, false);
    let schemas = 0;
    before("start the database, which takes seconds", async function () {
      this.timeout(120_000);
      await database.query("select 1", []);
    });
    after(() => database.close());

    conversationStoreContract("ConversationStore.sql()", {
      create: () => {
        const schema = `threads_${++schemas}`;
        const open = (): ConversationStore => new SqlThreads(sharedPglite(database), schema);
        return { store: open(), reopen: open };
      },
      reopens: true,
      turns: 200,
    });
  });

describe("on PostgreSQL", () => {
  const prefix = `ae_threads_${process.pid}`;
  let schemas = 0;
  before(async function () {
    await needPostgres(this);
  });
  const url = POSTGRES_URL;

  conversationStoreContract("ConversationStore.sql()", {
    create: () => {
      const schema = `${prefix}_${++schemas}`;
      const stores: ConversationStore[] = [];
      const open = (): ConversationStore => {
        const store = ConversationStore.sql({ url, schema });
        stores.push(store);
        return store;
      };
      return {
        store: open(),
        reopen: open,
        dispose: async () => {
          for (const store of stores) await store.close?.();
          await onServer(`drop schema if exists "${schema}" cascade`);
        },
      };
    },
    reopens: true,
    turns: 200,
  });

  it("ends the wait for a lock of another process at the abort of its signal", async () => {
    const schema = `${prefix}_${++schemas}`;
    const [holder, waiter] = [0, 1].map(() => ConversationStore.sql({ url, schema }));
    if (holder?.lock === undefined || waiter?.lock === undefined) throw new Error("it has locks");
    const { signal } = new AbortController();
    const held = await holder.lock("t", { timeoutMs: 60_000, signal });
    const leaving = new AbortController();
    const waiting = waiter.lock("t", { timeoutMs: 60_000, signal: leaving.signal });
    setTimeout(() => leaving.abort(new ValidationError("gone")), 100);
    expect((await rejectionOf(ValidationError, waiting)).message).to.equal("gone");
    await held.release();
    const next = await waiter.lock("t", { timeoutMs: 60_000, signal });
    await next.release();
    await Promise.all([holder.close?.(), waiter.close?.()]);
    await onServer(`drop schema if exists "${schema}" cascade`);
  });
});

describe("conversationStoreContract", () => {
  const FAULTS: Readonly<Record<string, (sound: ConversationStore) => Partial<ConversationStore>>> =
    {
      "refuses a change that expects another version, and changes nothing": (sound) => ({
        append: async (id, change) =>
          sound.append(id, { ...change, expectedVersion: (await sound.open(id))?.version ?? 0 }),
      }),
      "keeps all of 50 turns that 8 writers add concurrently": (sound) => ({
        append: async (id, change) => {
          const head = await sound.open(id);
          const first = head?.turns ?? 0;
          const turns = change.turns?.map((turn, i) => ({ ...turn, n: first + i }));
          const version = head?.version ?? 0;
          return sound.append(id, { ...change, expectedVersion: version, turns });
        },
      }),
      "returns copies of the stored turns": (sound) => {
        const known = new Map<string, readonly StoredTurn[]>();
        return {
          read: async (id, query) => {
            const turns = known.get(id) ?? (await sound.read(id, query));
            known.set(id, turns);
            return turns;
          },
        };
      },
      "replaces turns in one step, also repeatedly": (sound) => ({
        append: (id, { keep: _keep, ...change }) => sound.append(id, change),
      }),
      "lists the threads of one owner": (sound) => ({ list: () => sound.list() }),
      "grants the lock of a thread in the order of the calls, and other threads' locks immediately":
        () => ({
          lock: () => Promise.resolve({ release: () => Promise.resolve() }),
        }),
      "returns its threads after it was opened again": () => ({}),
    };

  for (const [title, fault] of Object.entries(FAULTS))
    it(`fails a store that breaks the rule: ${title}`, async () => {
      const failures = await failuresOf(
        () =>
          conversationStoreContract("broken", {
            create: () => {
              const sound = ConversationStore.inMemory();
              const methods: ConversationStore = {
                open: (id) => sound.open(id),
                read: (id, query) => sound.read(id, query),
                append: (id, change) => sound.append(id, change),
                list: (query) => sound.list(query),
                delete: (id) => sound.delete(id),
                ...fault(sound),
              };
              return { store: methods, reopen: () => ConversationStore.inMemory() };
            },
            reopens: true,
            turns: 50,
          }),
        title,
      );
      expect(failures).to.deep.equal([title]);
    });
});

/** A turn whose message shows a tool call with this input. */
function turnWithInput(n: number, input: unknown): StoredTurn {
  const turn = storedTurn(n);
  const view = { private: false, input };
  return { ...turn, messages: turn.messages.map((message) => ({ ...message, view })) };
}

describe("ConversationStore.inMemory()", () => {
  it("drops the least recently used thread", async () => {
    const store = ConversationStore.inMemory({ maxThreads: 2 });
    await fill(store, "a", 1);
    await fill(store, "b", 1);
    await store.open("a");
    await fill(store, "c", 1);
    expect((await store.list()).threads.map(({ id }) => id).sort()).to.deep.equal(["a", "c"]);
    expect(() => ConversationStore.inMemory({ maxThreads: 0 })).to.throw(ValidationError);
  });

  it("keeps 10,000 threads by default", async () => {
    const store = ConversationStore.inMemory();
    for (let i = 0; i < 10_000; i++) await fill(store, `t${i}`, 1);
    expect(await store.open("t0")).to.include({ turns: 1 }); // now the most recently used one
    await fill(store, "next", 1);
    expect(await store.open("t1")).to.equal(undefined);
    for (const id of ["t0", "t2", "next"])
      expect(await store.open(id), id).to.include({ turns: 1 });
  });

  it("stores a copy of the JSON data, which later changes of arguments and results do not affect", async () => {
    const store = ConversationStore.inMemory();
    const input: Record<string, unknown> = { city: "Rome", day: undefined };
    const at = new Date(0);
    for (const added of [input, { ...input, at }]) {
      const { version: expectedVersion = 0, turns: n = 0 } = (await store.open("t")) ?? {};
      const turn = turnWithInput(n, added);
      await store.append("t", { expectedVersion, turns: [turn] });
    }
    input["city"] = "Oslo";
    const inputs = async (): Promise<unknown[]> =>
      (await store.read("t", { limit: 2 })).map(({ messages }) => messages[0]?.view?.input);
    const stored = [{ city: "Rome" }, { city: "Rome", at: at.toJSON() }];
    expect(await inputs()).to.deep.equal(stored);
    for (const one of await inputs())
      expect(() => ((one as { city: string }).city = "Bonn")).to.throw(TypeError);
    expect(await inputs()).to.deep.equal(stored);
  });
});

describe("ConversationStore.file()", () => {
  const onlyFile = async (folder: string): Promise<string> => {
    const [name = ""] = (await readdir(folder)).filter((file) => file.endsWith(".jsonl"));
    return join(folder, name);
  };

  it("names files by a hash alone, and leaves no lock file", async () => {
    const folder = temporaryFolder();
    const store = ConversationStore.file(folder);
    await fill(store, "../../etc/passwd", 2);
    const lock = await store.lock?.("../../etc/passwd", {
      timeoutMs: 0,
      signal: new AbortController().signal,
    });
    await lock?.release();
    expect(await readdir(folder)).to.have.length(1);
    expect((await readdir(folder))[0]).to.match(/^[0-9a-f]{64}\.jsonl$/);
    expect(() => ConversationStore.file(" ")).to.throw(ValidationError);
  });

  it("removes a torn last line at the next change", async () => {
    const folder = temporaryFolder();
    const store = ConversationStore.file(folder);
    await fill(store, "t", 2);
    const path = await onlyFile(folder);
    await appendFile(path, '{"v":1,"head":{"id":"t"');
    expect((await store.open("t"))?.version).to.equal(2);
    expect(await textsIn(store, "t")).to.deep.equal(["turn 0", "turn 1"]);
    const warnings = await warningsOf(async () => {
      await store.append("t", { expectedVersion: 2, turns: [storedTurn(2)] });
    });
    expect(warnings).to.deep.equal([
      `${path}: the last line was cut off; its change was never confirmed`,
    ]);
    expect(await textsIn(store, "t")).to.deep.equal(["turn 0", "turn 1", "turn 2"]);
    expect((await readFile(path, "utf8")).trimEnd().split("\n")).to.have.length(3);
  });

  it("refuses a thread with a foreign line, names the line, and lists the others", async () => {
    for (const [line, problem] of [
      ["no JSON", "not JSON"],
      ['{"v":2}', "version 2"],
      ['{"v":1}', "not a change of a thread"],
      ["[]", "not a change of a thread"],
      ['{"v":1,"head":{"id":"other"},"kept":0,"turns":[]}', "belongs to another thread"],
    ] as const) {
      const folder = temporaryFolder();
      const store = ConversationStore.file(folder);
      await fill(store, "t", 2);
      const path = await onlyFile(folder);
      const [first = "", second = ""] = (await readFile(path, "utf8")).split("\n");
      await writeFile(path, `${first}\n${line}\n${second}\n`);
      await fill(store, "fine", 1);
      expect((await store.read("t", { limit: 1 })).map(({ n }) => n)).to.deep.equal([1]);
      const error = await rejectionOf(FileFormatError, store.read("t", { limit: 5 }));
      expect(error).to.include({ path, line: 2 });
      expect(error.message).to.include(problem);
      await writeFile(path, `${line}\n`);
      if (!problem.includes("another"))
        expect((await store.list()).threads.map(({ id }) => id)).to.deep.equal(["fine"]);
      await rejectionOf(FileFormatError, store.open("t"));
      await rejectionOf(FileFormatError, store.append("t", { expectedVersion: 0 }));
    }
  });

  it("reads lines of any length from the end", async () => {
    const folder = temporaryFolder();
    const store = ConversationStore.file(folder);
    const sizes = [1, 70_000, 10, 300_000, 65_536, 1];
    for (const [n, size] of sizes.entries())
      await store.append("t", { expectedVersion: n, turns: [storedTurn(n, "x".repeat(size))] });
    const found = (await textsIn(store, "t")) as readonly string[];
    expect(found.map(({ length }) => length)).to.deep.equal(sizes);
    expect((await store.read("t", { limit: 1, before: 2 })).map(({ n }) => n)).to.deep.equal([1]);
  });

  it("reports errors of the file system", async () => {
    const folder = join(temporaryFolder(), "file");
    await writeFile(folder, "");
    const store = ConversationStore.file(folder);
    const error = await rejectionOf(
      ConversationStoreError,
      store.append("t", { expectedVersion: 0, turns: [storedTurn(0)] }),
    );
    expect(error).to.include({ operation: "append", threadId: "t" });
    await rejectionOf(ConversationStoreError, store.list());
    const signal = new AbortController().signal;
    await rejectionOf(
      ConversationStoreError,
      Promise.resolve(store.lock?.("t", { timeoutMs: 0, signal })),
    );
    expect((await ConversationStore.file(join(folder, "..", "none")).list()).threads).to.deep.equal(
      [],
    );
  });
});

describe("ConversationStore.sql()", () => {
  it("refuses invalid options", () => {
    for (const options of [
      { url: "" },
      { url: "mysql://x" },
      { url: "pglite:memory", timeoutMs: 5 },
      { url: "pglite:memory", schema: "No" },
      { url: "pglite:memory", prefix: "x" },
    ])
      expect(() => ConversationStore.sql(options)).to.throw(ValidationError);
  });

  it("reports a server that does not answer, and a closed store", async () => {
    const store = ConversationStore.sql({ url: "postgres://u:secret@127.0.0.1:1/d" });
    const signal = new AbortController().signal;
    const error = await rejectionOf(ConversationStoreError, store.open("t"));
    expect(error.message).not.to.include("secret");
    await rejectionOf(
      ConversationStoreError,
      Promise.resolve(store.lock?.("t", { timeoutMs: 9, signal })),
    );
    await store.close?.();
    await store.close?.();
    expect((await rejectionOf(ConversationStoreError, store.open("t"))).message).to.include(
      "closed",
    );
    await rejectionOf(
      ConversationStoreError,
      Promise.resolve(store.lock?.("t", { timeoutMs: 9, signal })),
    );
  });
});
