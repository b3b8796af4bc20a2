import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { EmbeddingModel } from "../../../../src/contracts/embedding.js";
import type { MemoryEntry } from "../../../../src/contracts/memory.js";
import { MemoryStoreError } from "../../../../src/contracts/state-errors.js";
import { hashedBagOfWords } from "../../../../src/plugins/memory/embeddings/index.js";
import { sqlMemoryStore } from "../../../../src/plugins/memory/sql/index.js";
import { PgliteDatabase } from "../../../../src/plugins/shared/sql/pglite-database.js";
import { SqlMemoryStore } from "../../../../src/plugins/memory/sql/sql-memory-store.js";
import { memoryStoreContract } from "../../../../src/testing.js";
import { projectRoot } from "../../../support/project.js";
import { rejectionOf } from "../../../support/rejection.js";
import { sharedPglite } from "../../../support/shared-pglite.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";

const entry = (content: string, more: Partial<MemoryEntry> = {}): MemoryEntry => ({
  content,
  storedAt: new Date(1_767_225_600_123),
  ...more,
});
const texts = (entries: readonly MemoryEntry[]): readonly string[] =>
  entries.map(({ content }) => content);
const fixedModel = (vectors: Readonly<Record<string, readonly number[]>>): EmbeddingModel => ({
  embed: async (all) => all.map((text) => vectors[text] ?? []),
});

describe("sqlMemoryStore on PGlite", function () {
  this.timeout(120_000);

  // Starting takes seconds, so the tests of this part share one database, in a table each.
  describe("with pgvector", () => {
    const database = new PgliteDatabase(undefined, true);
    const shared = sharedPglite(database);
    let tables = 0;
    const open = (
      model: EmbeddingModel | undefined,
      table = `t${++tables}`,
      minScore = -Infinity,
    ): SqlMemoryStore => new SqlMemoryStore(shared, { model, table, minScore });
    before(() => database.query("select 1::text as one", []));
    after(() => database.close());

    memoryStoreContract("the contract, finding by meaning", {
      create: () => {
        const table = `t${++tables}`;
        return {
          store: open(hashedBagOfWords({ dimensions: 64 }), table),
          reopen: () => open(hashedBagOfWords({ dimensions: 64 }), table),
        };
      },
      semantic: true,
      shared: true,
      reopens: true,
    });

    it("returns the nearest entries first, the latest of equally near ones, and the latest for a blank question", async () => {
      const store = open(
        fixedModel({
          east: [1, 0],
          "far east": [5, 0],
          north: [0, 2],
          "north-east": [3, 3],
          west: [-1, 0],
        }),
      );
      for (const text of ["north", "east", "north-east", "far east", "west"])
        await store.store("s", entry(text));
      expect(texts(await store.retrieve("s", "east", 10))).to.deep.equal([
        "far east",
        "east",
        "north-east",
        "north",
        "west",
      ]);
      expect(texts(await store.retrieve("s", " ", 2))).to.deep.equal(["far east", "west"]);
    });

    it("omits entries below minScore", async () => {
      const store = open(
        fixedModel({ east: [1, 0], north: [0, 1], "north-east": [1, 1] }),
        undefined,
        0.5,
      );
      for (const text of ["north", "east", "north-east"]) await store.store("s", entry(text));
      expect(texts(await store.retrieve("s", "east", 10))).to.deep.equal(["east", "north-east"]);
      expect(await store.retrieve("s", "", 10)).to.have.length(3);
    });

    it("refuses a table created for other vectors, without vectors, or with vectors, and states the difference", async () => {
      await open(hashedBagOfWords({ dimensions: 16 }), "sixteen").store("s", entry("x"));
      await open(undefined, "without").store("s", entry("x"));
      const other = await rejectionOf(
        MemoryStoreError,
        open(hashedBagOfWords({ dimensions: 32 }), "sixteen").retrieve("s", "x", 1),
      );
      expect(other.message).to.match(
        /sixteen keeps a vector\(16\) for each entry, and the model's vectors have 32 numbers/,
      );
      const without = await rejectionOf(
        MemoryStoreError,
        open(hashedBagOfWords({ dimensions: 32 }), "without").store("s", entry("x")),
      );
      expect(without.message).to.match(/created without a model/);
      expect(
        (await rejectionOf(MemoryStoreError, open(undefined, "sixteen").clear("s"))).message,
      ).to.match(/vector\(16\).* needs a model/);
      expect(
        (
          await rejectionOf(
            MemoryStoreError,
            open({ dimensions: 20_000, embed: async () => [] }).clear("s"),
          )
        ).message,
      ).to.match(/20000 numbers.*16000/);
    });

    it("requests a vector of a model if its length is required and not given", async () => {
      const asked: string[] = [];
      const store = open({ embed: async (all) => (asked.push(...all), all.map(() => [1, 2, 3])) });
      await store.clear("s");
      await store.clear("s");
      expect(asked).to.deep.equal(["dimensions"]);
    });
  });

  /** The closed database of the first test below. */
  let closed: string | undefined;

  /** Returns a new folder with a copy of that database, since creating a database takes seconds. */
  function folderWithDatabase(): string {
    const folder = temporaryFolder();
    if (closed !== undefined) cpSync(closed, join(folder, "memory"), { recursive: true });
    return join(folder, "memory");
  }

  describe("in a folder", () => {
    let folder: string;
    beforeEach(() => {
      folder = temporaryFolder();
    });

    it("keeps all data, and the folder for itself: against stores of this process and of others", async () => {
      const url = `pglite:${join(folder, "deep/memory")}`;
      const store = sqlMemoryStore({ url, model: hashedBagOfWords() });
      await store.store(
        "s",
        entry("Rice takes eighteen minutes", {
          metadata: { agentRole: "Cook" },
          structuredContent: { minutes: 18 },
        }),
      );
      const second = sqlMemoryStore({ url });
      expect((await rejectionOf(MemoryStoreError, second.clear("s"))).message).to.match(
        /in use by this process/,
      );

      const program = `import { sqlMemoryStore } from "agentensemble/memory";
        const store = sqlMemoryStore({ url: ${JSON.stringify(url)} });
        await store.clear("s").catch((error) => console.log(error.code, error.message)); await store.close();`;
      const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
        cwd: projectRoot,
        stdio: ["ignore", "pipe", "inherit"],
      });
      let said = "";
      child.stdout.setEncoding("utf8").on("data", (part: string) => (said += part));
      await once(child, "close");
      expect(said).to.match(
        new RegExp(`^AE_MEMORY_STORE .* is in use by process ${process.pid} on `),
      );

      await store.close?.();
      expect(existsSync(`${join(folder, "deep/memory")}.lock`)).to.equal(false);
      const again = sqlMemoryStore({ url, model: hashedBagOfWords() });
      const { entries, version } = await again.retrieveVersioned(
        "s",
        "How many minutes for rice?",
        1,
      );
      expect([version, entries]).to.deep.equal([
        1,
        [
          entry("Rice takes eighteen minutes", {
            metadata: { agentRole: "Cook" },
            structuredContent: { minutes: 18 },
          }),
        ],
      ]);
      await again.close?.();
      closed = join(folder, "deep/memory");
    });

    it("survives the kill of its process, takes over its lock, and does not block the event loop", async () => {
      const url = `pglite:${folderWithDatabase()}`;
      const program = `import { sqlMemoryStore } from "agentensemble/memory";
        const store = sqlMemoryStore({ url: ${JSON.stringify(url)}, table: "plain" });
        await store.store("s", { content: "kept", storedAt: new Date() }); console.log("stored"); setInterval(() => {}, 1000);`;
      const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
        cwd: projectRoot,
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(child.stdout, "data");
      child.kill("SIGKILL");
      await once(child, "close");
      let turns = 0;
      const counting = setInterval(() => turns++, 1);
      const store = sqlMemoryStore({ url, table: "plain" });
      expect(texts(await store.retrieve("s", "", 5))).to.deep.equal(["kept"]);
      clearInterval(counting);
      expect(turns).to.be.greaterThan(20);
      await store.close?.();
    });
  });

  it("does not keep a process alive if it was not closed", () => {
    const program = `import { sqlMemoryStore } from "agentensemble/memory"; const store = sqlMemoryStore({ url: ${JSON.stringify(`pglite:${folderWithDatabase()}`)}, table: "plain" });
      await store.store("s", { content: "x", storedAt: new Date() }); console.log((await store.retrieve("s", "", 5)).length)`;
    const options = { cwd: projectRoot, encoding: "utf8", timeout: 100_000 } as const;
    expect(
      execFileSync(process.execPath, ["--input-type=module", "--eval", program], options),
    ).to.equal("1\n");
  });

  it("names the missing package and how to install it", () => {
    const folder = temporaryFolder();
    cpSync(join(projectRoot, "dist/bundle"), join(folder, "node_modules/agentensemble"), {
      recursive: true,
    });
    const program = `import { sqlMemoryStore } from ${JSON.stringify(join(folder, "node_modules/agentensemble/memory.js"))};
      for (const url of ["pglite:memory", "postgres://127.0.0.1:1/db"])
        await sqlMemoryStore({ url }).clear("s").catch((error) => console.log(error.code, error.hint));`;
    const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
      cwd: folder,
      encoding: "utf8",
    });
    expect(printed).to.equal(
      "AE_VALIDATION Run: npm install @electric-sql/pglite\nAE_VALIDATION Run: npm install pg\n",
    );
  });
});
