import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { expect } from "chai";
import type { SharedMemoryStore } from "../../../../src/contracts/memory.js";
import { MemoryStoreError } from "../../../../src/contracts/state-errors.js";
import { hashedBagOfWords } from "../../../../src/plugins/memory/embeddings/index.js";
import { sqlMemoryStore } from "../../../../src/plugins/memory/sql/index.js";
import { memoryStoreContract } from "../../../../src/testing.js";
import { allCases } from "../../../support/all-cases.js";
import { rejectionOf } from "../../../support/rejection.js";

/**
 * PGlite with PostgreSQL's protocol on loopback, which is a server with pgvector for the driver
 * `pg`. All its connections are one session, and share locks.
 */
if (allCases)
  describe("sqlMemoryStore on a server with pgvector", function () {
    this.timeout(120_000);
    let database: PGlite;
    let server: PGLiteSocketServer;
    let tables = 0;
    const open = (table: string, dimensions = 64): SharedMemoryStore =>
      sqlMemoryStore({
        url: `postgres://postgres@${server.getServerConn()}/postgres`,
        table,
        model: hashedBagOfWords({ dimensions }),
      });

    before(async () => {
      database = await PGlite.create({ extensions: { vector } });
      server = new PGLiteSocketServer({
        db: database,
        host: "127.0.0.1",
        port: 0,
        maxConnections: 50,
      });
      await server.start();
    });
    after(async () => {
      await server.stop();
      await database.close();
    });

    memoryStoreContract("the contract, finding by meaning", {
      create: () => {
        const table = `t${++tables}`;
        return { store: open(table), reopen: () => open(table) };
      },
      semantic: true,
      shared: true,
      reopens: true,
    });

    it("installs the extension, stores vectors, and searches with them", async () => {
      const store = open("vectors");
      await store.store("s", { content: "Rice takes eighteen minutes", storedAt: new Date() });
      await store.store("s", { content: "The bank closes at noon", storedAt: new Date() });
      expect((await store.retrieve("s", "How many minutes for rice?", 1))[0]?.content).to.equal(
        "Rice takes eighteen minutes",
      );
      const { rows } = await database.query<{ dims: number }>(
        "select vector_dims(embedding) as dims from vectors limit 1",
      );
      expect(rows).to.deep.equal([{ dims: 64 }]);
      await store.close?.();
    });

    it("refuses a table that was created for vectors of another length", async () => {
      const [narrow, wide] = [open("lengths", 16), open("lengths", 32)];
      await narrow.store("s", { content: "x", storedAt: new Date() });
      const error = await rejectionOf(
        MemoryStoreError,
        wide.store("s", { content: "y", storedAt: new Date() }),
      );
      expect(error.message).to.match(
        /lengths keeps a vector\(16\) for each entry, and the model's vectors have 32 numbers/,
      );
      await narrow.close?.();
      await wide.close?.();
    });
  });
