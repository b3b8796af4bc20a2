import { expect } from "chai";
import { resolve } from "node:path";
import { ValidationError } from "../../../../src/contracts/errors.js";
import { hashedBagOfWords } from "../../../../src/plugins/memory/embeddings/index.js";
import { sqlMemoryStore, type SqlMemoryOptions } from "../../../../src/plugins/memory/sql/index.js";
import { resolveSqlMemoryOptions } from "../../../../src/plugins/memory/sql/sql-options.js";
import { rejectionOf } from "../../../support/rejection.js";

describe("the options of sqlMemoryStore", () => {
  it("have defaults, and resolve a folder when the store is created", () => {
    expect(resolveSqlMemoryOptions({ url: "postgresql://h/db" })).to.deep.equal({
      place: { kind: "postgres", url: "postgresql://h/db", timeoutMs: 30_000 },
      model: undefined,
      table: "agentensemble_memory",
      minScore: -Infinity,
    });
    expect(resolveSqlMemoryOptions({ url: "pglite:memory" }).place).to.deep.equal({
      kind: "pglite",
      folder: undefined,
    });
    expect(resolveSqlMemoryOptions({ url: "pglite:./x" }).place).to.deep.equal({
      kind: "pglite",
      folder: resolve("x"),
    });
  });

  const model = hashedBagOfWords();
  const refused: readonly [
    string,
    Partial<Record<keyof SqlMemoryOptions | "tabel", unknown>>,
    RegExp,
  ][] = [
    ["no URL", {}, /url must not be blank/],
    ["a URL of another kind", { url: "mysql://root:hunter2@h/db" }, /got: mysql:$/],
    ["an unreadable URL", { url: "postgres://u:hunter2@h:port/db" }, /got: postgres:$/],
    ["a folder without a name", { url: "pglite: " }, /must be followed by a folder/],
    [
      "an invalid table",
      { url: "pglite:memory", table: 'x"; drop table y' },
      /table must be small letters/,
    ],
    ["a table with a long name", { url: "pglite:memory", table: "x".repeat(49) }, /at most 48/],
    ["minScore without a model", { url: "pglite:memory", minScore: 0.5 }, /minScore needs a model/],
    [
      "a minScore out of range",
      { url: "pglite:memory", model, minScore: 7 },
      /between -1 and 1, got: 7/,
    ],
    ["an invalid model", { url: "pglite:memory", model: {} }, /must have a method embed/],
    ["a timeout for PGlite", { url: "pglite:memory", timeoutMs: 5 }, /timeoutMs is for servers/],
    [
      "an invalid timeout",
      { url: "postgres://h/db", timeoutMs: -5 },
      /timeoutMs must be a positive number/,
    ],
    ["an unknown option", { url: "pglite:memory", tabel: "x" }, /Did you mean 'table'/],
  ];
  for (const [name, options, message] of refused) {
    it(`refuse ${name}`, () => {
      const error = (() => {
        try {
          return void sqlMemoryStore(options as never); // wrong on purpose
        } catch (thrown) {
          return thrown;
        }
      })();
      expect(error)
        .to.be.instanceOf(ValidationError)
        .with.property("message")
        .that.matches(message)
        .and.not.includes("hunter2");
    });
  }

  it("accept a scope that PostgreSQL would change, which calls then refuse", async () => {
    const store = sqlMemoryStore({ url: "postgres://127.0.0.1:1/db" });
    for (const scope of ["a\0b", "a\ud800"]) {
      await rejectionOf(ValidationError, store.clear(scope));
      await rejectionOf(
        ValidationError,
        store.withLock(scope, async () => 1),
      );
    }
  });
});
