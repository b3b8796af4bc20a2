import { chmod, mkdir, readFile, readdir, rm, stat, symlink } from "node:fs/promises";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { FileHandle } from "node:fs/promises";
import type { SharedMemoryStore } from "agentensemble";
import { MemoryStore, MemoryStoreError, ValidationError } from "agentensemble";
import { memoryStoreContract } from "agentensemble/testing";
import { expect } from "chai";
import fc from "fast-check";
import { fileStore } from "../../../../src/plugins/memory/file/index.js";
import { inMemoryStore } from "../../../../src/plugins/memory/in-memory/index.js";
import { rejection } from "../../../support/rejection.js";
import { contentsOf, entryOf, MemoryFolder } from "./folder.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";

memoryStoreContract("file", {
  create: () => {
    const folder = temporaryFolder();
    const opened: SharedMemoryStore[] = [];
    const openOne = (): SharedMemoryStore => {
      const store = fileStore(join(folder, "memory.jsonl"));
      opened.push(store);
      return store;
    };
    const dispose = async (): Promise<void> => {
      for (const one of opened) await one.close?.();
    };
    return { store: openOne(), reopen: openOne, dispose };
  },
  shared: true,
  reopens: true,
});

describe("MemoryStore.file()", () => {
  it("refuses invalid paths and options immediately", () => {
    for (const path of ["", " ", undefined as never, "a\0b"])
      expect(() => MemoryStore.file(path)).to.throw(ValidationError, "path");
    expect(() => MemoryStore.file("x", { onWaring: () => undefined } as never)).to.throw(
      ValidationError,
      "onWarning",
    );
    expect(() => MemoryStore.file("x", { onWarning: "yes" as never })).to.throw(
      ValidationError,
      "onWarning",
    );
  });

  it("creates file and folder at the first call, with owner access only", () =>
    MemoryFolder.use(async (folder) => {
      const path = join(folder.path, "deep", "er", "memory.jsonl");
      const store = folder.open({}, path);
      expect(await readdir(folder.path)).to.deep.equal([]);
      await store.store("s", entryOf("a"));
      expect((await stat(path)).mode & 0o777).to.equal(0o600);
      expect((await stat(join(folder.path, "deep"))).mode & 0o077).to.equal(0);
      await store.close?.();
      expect(await readdir(join(folder.path, "deep", "er"))).to.deep.equal(["memory.jsonl"]);
    }));

  it("resolves a relative path from the folder at the time of its creation", () =>
    MemoryFolder.use(async (folder) => {
      const before = process.cwd();
      let store: SharedMemoryStore;
      process.chdir(folder.path);
      try {
        store = folder.open({}, "relative.jsonl");
      } finally {
        process.chdir(before);
      }
      await store.store("s", entryOf("a"));
      expect((await stat(join(folder.path, "relative.jsonl"))).isFile()).to.equal(true);
    }));

  it("can be closed unused, twice, and during calls; later calls are rejected", () =>
    MemoryFolder.use(async (folder) => {
      await folder.open().close?.();
      const store = folder.open();
      const writing = Promise.all([store.store("s", entryOf("a")), store.store("s", entryOf("b"))]);
      await Promise.all([store.close?.(), store.close?.()]);
      await writing;
      for (const call of [
        store.store("s", entryOf("c")),
        store.retrieve("s", "", 1),
        store.withLock("s", async () => 1),
      ]) {
        expect(await rejection(call)).to.be.instanceOf(MemoryStoreError);
      }
      expect(await contentsOf(folder.open())).to.deep.equal(["a", "b"]);
    }));

  it("writes concurrent entries with one write to the disk", () =>
    MemoryFolder.use(async (folder) => {
      const store = folder.open();
      await store.store("s", entryOf("first"));
      const probe = await open(folder.file, "r");
      const prototype = Object.getPrototypeOf(probe) as FileHandle; // of all open files
      await probe.close();
      const original = prototype.datasync;
      let syncs = 0;
      prototype.datasync = function (this: FileHandle) {
        syncs++;
        return original.call(this);
      };
      try {
        await Promise.all(
          Array.from({ length: 200 }, (_, i) => store.store(`scope ${i % 7}`, entryOf(`${i}`))),
        );
      } finally {
        prototype.datasync = original;
      }
      expect(syncs).to.be.greaterThan(0).and.lessThan(5);
    }));

  it("rewrites the file when most of it is obsolete, and keeps its permissions and versions", () =>
    MemoryFolder.use(async (folder) => {
      const store = folder.open();
      await store.store("kept", entryOf("kept"));
      await store.store("cleared", entryOf("gone"));
      await store.clear("cleared");
      await chmod(folder.file, 0o640);
      for (let i = 0; i < 40; i++) {
        await store.store("s", entryOf(`${i} ${"x".repeat(10_000)}`));
        await store.evict("s", { apply: (entries) => entries.slice(-2) });
      }
      const { size, mode } = await stat(folder.file);
      expect(size).to.be.lessThan(200_000);
      expect(mode & 0o777).to.equal(0o640);
      await store.store("kept", entryOf("later"));
      const { version } = await store.retrieveVersioned("s", "", 1);
      await store.close?.();
      expect(await readdir(folder.path)).to.deep.equal(["memory.jsonl"]);
      const again = folder.open();
      expect(await contentsOf(again, "kept")).to.deep.equal(["kept", "later"]);
      expect((await contentsOf(again)).map((text) => text.slice(0, 2))).to.deep.equal(["38", "39"]);
      expect((await again.retrieveVersioned("s", "", 1)).version).to.equal(version);
      expect((await again.retrieveVersioned("cleared", "", 1)).version).to.equal(2);
    }));

  it("continues with the old file when it can't be rewritten, and warns", () =>
    MemoryFolder.use(async (folder) => {
      const warnings: string[] = [];
      const store = folder.open({
        onWarning: (message) => {
          warnings.push(message);
          throw new Error("a broken listener changes nothing");
        },
      });
      await store.store("s", entryOf("a"));
      await mkdir(`${folder.file}.tmp`);
      for (let i = 0; i < 10; i++) {
        await store.store("s", entryOf("x".repeat(10_000)));
        await store.clear("s");
      }
      await store.store("s", entryOf("last"));
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.contain("compacted");
      await rm(`${folder.file}.tmp`, { recursive: true });
      await store.close?.();
      expect(await contentsOf(folder.open())).to.deep.equal(["last"]);
    }));

  it("keeps long entries, and refuses entries beyond 8 million characters", () =>
    MemoryFolder.use(async (folder) => {
      const store = folder.open();
      const long = "é\u2028".repeat(1_500_000);
      await store.store("s", entryOf(long));
      expect(await rejection(store.store("s", entryOf("x".repeat(9_000_000))))).to.be.instanceOf(
        ValidationError,
      );
      await store.close?.();
      expect((await contentsOf(folder.open()))[0] === long).to.equal(true);
    }));

  it("recognises one file under two paths, and allows one store at a time", () =>
    MemoryFolder.use(async (folder) => {
      const store = folder.open();
      await store.store("s", entryOf("a"));
      await symlink(folder.file, join(folder.path, "link"));
      const other = folder.open({}, join(folder.path, "link"));
      for (const call of [
        other.store("s", entryOf("b")),
        other.retrieve("s", "", 1),
        other.withLock("s", async () => 1),
      ]) {
        const error = await rejection(call);
        expect(error).to.be.instanceOf(MemoryStoreError).with.property("operation", "open");
        expect((error as MemoryStoreError).message).to.contain("this process");
      }
      await store.close?.();
      await other.store("s", entryOf("b"));
      expect(await contentsOf(other)).to.deep.equal(["a", "b"]);
      expect(await readFile(folder.file, "utf8")).to.contain('"content":"b"');
    }));
});

/** The operations of a random program on a store. */
type Step =
  | {
      readonly kind: "store";
      readonly scope: string;
      readonly text: string;
      readonly data: unknown;
      readonly at: number;
      readonly meta: Record<string, string> | undefined;
    }
  | { readonly kind: "storeIf"; readonly scope: string; readonly version: number }
  | { readonly kind: "evict"; readonly scope: string; readonly mask: number }
  | { readonly kind: "clear"; readonly scope: string }
  | { readonly kind: "reopen" };

const scopes = fc.constantFrom("a", "b", "__proto__");
const steps = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant("store" as const),
        scope: scopes,
        text: fc.string({ unit: "binary" }),
        data: fc.option(fc.jsonValue(), { nil: undefined }),
        at: fc.integer({ min: -8.64e15, max: 8.64e15 }),
        meta: fc.option(fc.dictionary(fc.string(), fc.string()), { nil: undefined }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("storeIf" as const),
        scope: scopes,
        version: fc.nat(6),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("evict" as const),
        scope: scopes,
        mask: fc.nat(255),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("clear" as const), scope: scopes }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("reopen" as const) }) },
  ),
  { maxLength: 30 },
);

/** The result of a step: nothing, a version, or the code of an error. */
async function act(
  store: SharedMemoryStore,
  step: Exclude<Step, { readonly kind: "reopen" }>,
): Promise<unknown> {
  try {
    if (step.kind === "clear") return await store.clear(step.scope);
    if (step.kind === "evict")
      return await store.evict(step.scope, {
        apply: (entries) => entries.filter((_, i) => ((step.mask >> (i % 8)) & 1) === 1),
      });
    if (step.kind === "storeIf")
      return await store.storeIf(step.scope, entryOf("conditional"), step.version);
    return await store.store(step.scope, {
      content: step.text,
      structuredContent: step.data,
      storedAt: new Date(step.at),
      metadata: step.meta,
    });
  } catch (error) {
    return (error as { readonly code?: unknown }).code;
  }
}

describe("the stores in a file and in memory", () => {
  it("return the same results after any operations, also after the file was opened again", async () => {
    await fc.assert(
      fc.asyncProperty(steps, (program: readonly Step[]) =>
        MemoryFolder.use(async (folder) => {
          const model = inMemoryStore();
          let store = folder.open();
          for (const step of [...program, { kind: "reopen" } as const]) {
            if (step.kind !== "reopen") {
              expect(await act(store, step)).to.deep.equal(await act(model, step));
              continue;
            }
            await store.close?.();
            store = folder.open();
            for (const scope of ["a", "b", "__proto__"]) {
              expect(await store.retrieveVersioned(scope, "", 100)).to.deep.equal(
                await model.retrieveVersioned(scope, "", 100),
              );
            }
          }
        }),
      ),
      { numRuns: 40 },
    );
  });
});
