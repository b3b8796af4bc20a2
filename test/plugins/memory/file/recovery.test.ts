import { execFileSync } from "node:child_process";
import {
  appendFile,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { FileFormatError, MemoryStoreError } from "agentensemble";
import { expect } from "chai";
import { rejection, rejectionOf } from "../../../support/rejection.js";
import { contentsOf, entryOf, MemoryFolder } from "./folder.js";

const HEADER = '{"format":"agentensemble-memory","version":1}\n';

/** A closed file with the entries `a` and `b`, and one more that is cleared. */
async function written(folder: MemoryFolder): Promise<string> {
  const store = folder.open();
  for (const text of ["a", "b"]) await store.store("s", entryOf(text));
  await store.store("other", entryOf("gone"));
  await store.clear("other");
  await store.close?.();
  return readFile(folder.file, "utf8");
}

describe("a memory file after a crash", () => {
  it("is complete up to any byte on the disk: a truncated entry is moved to another file and reported once", () =>
    MemoryFolder.use(async (folder) => {
      const whole = await written(folder);
      const ends = [...whole.matchAll(/\n/g)].map(({ index }) => index + 1);
      for (let length = 0; length <= whole.length; length++) {
        await writeFile(folder.file, whole.slice(0, length));
        const warnings: string[] = [];
        const store = folder.open({ onWarning: (message) => warnings.push(message) });
        // A record without its line feed is complete.
        const records = ends.filter((end) => end - 1 <= length).length - 1;
        expect(await contentsOf(store), `cut at ${length}`).to.deep.equal(
          ["a", "b"].slice(0, Math.max(0, records)),
        );
        const isCut =
          length > 0 &&
          !ends.some((end) => end === length || (end - 1 === length && end > HEADER.length));
        expect(warnings, `cut at ${length}`).to.have.length(isCut ? 1 : 0);
        await store.store("s", entryOf("after"));
        await store.close?.();
        expect((await contentsOf(folder.open())).at(-1)).to.equal("after");
        await folder.closeAll();
      }
    })).timeout(60_000);

  it("keeps the removed bytes in a file next to it", () =>
    MemoryFolder.use(async (folder) => {
      await written(folder);
      await appendFile(folder.file, '{"op":"store","scope":"s","vers');
      await contentsOf(folder.open());
      expect(await readFile(`${folder.file}.torn`, "utf8")).to.equal(
        '{"op":"store","scope":"s","vers',
      );
      expect((await stat(`${folder.file}.torn`)).mode & 0o777).to.equal(0o600);
    }));

  it("writes through no symbolic link in the place of that file or of a compaction", () =>
    MemoryFolder.use(async (folder) => {
      await written(folder);
      const victim = join(folder.path, "victim");
      await writeFile(victim, "keep");
      for (const suffix of [".torn", ".tmp"]) await symlink(victim, `${folder.file}${suffix}`);
      await appendFile(folder.file, '{"op":"store"');
      const store = folder.open();
      expect(await contentsOf(store)).to.deep.equal(["a", "b"]);
      expect(await readFile(`${folder.file}.torn`, "utf8")).to.equal('{"op":"store"');
      await symlink(victim, `${folder.file}.tmp`);
      for (let n = 0; n < 6; n++) {
        await store.store("large", entryOf("x".repeat(50_000)));
        await store.clear("large");
      }
      expect((await stat(folder.file)).size).to.be.lessThan(200_000); // it was compacted
      expect(await readFile(victim, "utf8")).to.equal("keep");
    }));

  it("drops empty blocks, and an unfinished compaction", () =>
    MemoryFolder.use(async (folder) => {
      await written(folder);
      await appendFile(folder.file, Buffer.alloc(5_000));
      await writeFile(`${folder.file}.tmp`, HEADER);
      const store = folder.open();
      expect(await contentsOf(store)).to.deep.equal(["a", "b"]);
      await store.close?.();
      expect(await readdir(folder.path)).to.have.members(["memory.jsonl", "memory.jsonl.torn"]);
    }));
});

describe("an invalid memory file", () => {
  const record = (fields: object): string =>
    `${JSON.stringify({ op: "store", scope: "s", version: 3, entry: { content: "c", storedAt: "2026-01-01T00:00:00.000Z" }, ...fields })}\n`;
  const damaged: Readonly<Record<string, string>> = {
    "invalid JSON": "}{\n",
    "JSON that is not a record": "[1]\n",
    "invalid UTF-8": "\xff\xfe\n",
    "NUL bytes": "\0\0\0\n",
    "no scope": record({ scope: 5 }),
    "no version": record({ version: "3" }),
    "an old version": record({ version: 2 }),
    "an unknown operation": record({ op: "forget" }),
    "no entry": record({ entry: null }),
    "an entry without text": record({ entry: { storedAt: "2026-01-01T00:00:00.000Z" } }),
    "an entry without a time": record({ entry: { content: "c" } }),
    "an invalid time": record({ entry: { content: "c", storedAt: "soon" } }),
    "metadata that are not texts": record({
      entry: { content: "c", storedAt: "2026-01-01T00:00:00.000Z", metadata: { a: 1 } },
    }),
    "an empty drop": record({ op: "drop", dropped: [[1]] }),
  };
  for (const [what, line] of Object.entries(damaged)) {
    it(`is refused with the number of the line, and kept unchanged: ${what}`, () =>
      MemoryFolder.use(async (folder) => {
        const whole = await written(folder);
        const lines = whole.split(/(?<=\n)/);
        const broken = Buffer.concat([
          Buffer.from(lines.slice(0, 3).join("")),
          Buffer.from(line, "latin1"),
          Buffer.from(lines.slice(3).join("")),
        ]);
        await writeFile(folder.file, broken);
        const store = folder.open();
        for (const call of [store.retrieve("s", "", 1), store.store("s", entryOf("c"))]) {
          const error = await rejectionOf(FileFormatError, call);
          expect([error.line, error.path]).to.deep.equal([4, folder.file]);
          expect(error.hint).to.contain("delete line 4");
        }
        expect((await readFile(folder.file)).equals(broken)).to.equal(true);
        await writeFile(folder.file, whole); // repaired while the store is open
        expect(await contentsOf(store)).to.deep.equal(["a", "b"]);
      }));
  }

  it("can be read without a deleted line", () =>
    MemoryFolder.use(async (folder) => {
      const lines = (await written(folder)).split(/(?<=\n)/);
      await writeFile(
        folder.file,
        [...lines.slice(0, 1), ...lines.slice(2)].join("").replaceAll("\n", "\r\n"),
      );
      expect(await contentsOf(folder.open())).to.deep.equal(["b"]);
    }));

  for (const [what, text] of Object.entries({
    text: "my diary\n",
    "a short text": "x",
    JSON: '{"format":"other","version":1}\n',
    "a large file": "x".repeat(3_000_000),
  })) {
    it(`is refused and kept unchanged if it belongs to another program: ${what}`, () =>
      MemoryFolder.use(async (folder) => {
        await writeFile(folder.file, text);
        const error = await rejectionOf(FileFormatError, folder.open().store("s", entryOf("a")));
        expect(error.line).to.equal(1);
        expect(await readFile(folder.file, "utf8")).to.equal(text);
        expect(await readdir(folder.path)).to.deep.equal(["memory.jsonl"]);
      }));
  }

  it("is refused if a later version of the package wrote it", () =>
    MemoryFolder.use(async (folder) => {
      await writeFile(folder.file, HEADER.replace("1}", "2}"));
      expect((await rejectionOf(FileFormatError, contentsOf(folder.open()))).message).to.contain(
        "form 2",
      );
    }));

  it("is refused if it is a folder, a pipe, or inaccessible", () =>
    MemoryFolder.use(async (folder) => {
      await mkdir(join(folder.path, "folder"));
      execFileSync("bash", ["-c", `mkfifo "$0"`, join(folder.path, "pipe")]);
      await writeFile(join(folder.path, "plain"), "x");
      for (const name of ["folder", "pipe", "plain/below"]) {
        const error = await rejectionOf(
          MemoryStoreError,
          folder.open({}, join(folder.path, name)).store("s", entryOf("a")),
        );
        expect(error.message).to.contain(name);
      }
      expect(await readdir(folder.path)).to.have.members(["folder", "pipe", "plain"]);
    }));
});

describe("a memory file changed by another program while it is open", () => {
  const meddling: Readonly<Record<string, (file: string) => Promise<unknown>>> = {
    removed: (file) => rm(file),
    replaced: async (file) => {
      await writeFile(`${file}.new`, await readFile(file));
      await rename(`${file}.new`, file);
    },
    shortened: (file) => truncate(file, HEADER.length),
    lengthened: (file) => appendFile(file, "\n"),
    "without its lock": (file) => rm(`${file}.lock`),
  };
  for (const [what, meddle] of Object.entries(meddling)) {
    it(`refuses a write that would be lost, and is opened again with the next call: ${what}`, () =>
      MemoryFolder.use(async (folder) => {
        const store = folder.open();
        await store.store("s", entryOf("a"));
        await meddle(folder.file);
        const error = await rejectionOf(MemoryStoreError, store.store("s", entryOf("lost")));
        expect(error.message).to.contain("nothing was written");
        await store.store("s", entryOf("b"));
        expect(await contentsOf(store)).to.deep.equal(
          what === "removed" || what === "shortened" ? ["b"] : ["a", "b"],
        );
        await store.close?.();
        expect(await rejection(stat(`${folder.file}.lock`))).to.have.property("code", "ENOENT");
      }));
  }
});
