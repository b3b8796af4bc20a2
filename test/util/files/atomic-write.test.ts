import { expect } from "chai";
import { execFileSync } from "node:child_process";
import { mkdir, readFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DraftFile, writeFileAtomically } from "../../../src/util/files/atomic-write.js";
import { rejection, rejectionOf } from "../../support/rejection.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

describe("writing complete files", () => {
  let root: string;
  let file: string;
  beforeEach(() => {
    root = temporaryFolder();
    file = join(root, "file");
  });

  const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

  it("creates the file and its folders, readable by their owner only", async () => {
    const deep = join(root, "a", "b", "file");
    await writeFileAtomically(deep, ["one ", "two"]);
    expect(await readFile(deep, "utf8")).to.equal("one two");
    expect(await modeOf(deep)).to.equal(0o600);
    expect(await modeOf(join(root, "a"))).to.equal(0o700);
    expect(await modeOf(join(root, "a", "b"))).to.equal(0o700);
    await writeFileAtomically(file, Buffer.from([0, 255]));
    expect([...(await readFile(file))]).to.deep.equal([0, 255]);
    await writeFileAtomically(file, []);
    expect(await readFile(file, "utf8")).to.equal("");
  });

  it("replaces an older file, whose readers keep the opened version", async () => {
    await writeFile(file, "old", { mode: 0o644 });
    const { ino } = await stat(file);
    await writeFileAtomically(file, ["new"]);
    expect(await readFile(file, "utf8")).to.equal("new");
    expect((await stat(file)).ino).not.to.equal(ino);
    expect(await modeOf(file)).to.equal(0o600);
    expect(await readdir(root)).to.deep.equal(["file"]);
  });

  it("replaces a symbolic link, and follows none in the place of a draft", async () => {
    const victim = join(root, "victim");
    await writeFile(victim, "keep");
    await symlink(victim, file);
    for (let n = 0; n < 2; n++) await symlink(victim, `${root}/.file.${process.pid}.${n}.tmp`);
    await writeFileAtomically(file, ["new"]);
    expect(await readFile(victim, "utf8")).to.equal("keep");
    expect(await readFile(file, "utf8")).to.equal("new");
    expect((await stat(file)).ino).not.to.equal((await stat(victim)).ino);
  });

  it("keeps the older file and no draft if the content can't be created", async () => {
    await writeFile(file, "old");
    const reason = new Error("no more");
    function* pieces(): Generator<string> {
      yield "x".repeat(300_000);
      throw reason;
    }
    expect(await rejection(writeFileAtomically(file, pieces()))).to.equal(reason);
    expect(await readFile(file, "utf8")).to.equal("old");
    expect(await readdir(root)).to.deep.equal(["file"]);
  });

  it("refuses to replace a folder or a pipe", async () => {
    await mkdir(file);
    const write = (): Promise<void> => writeFileAtomically(file, ["new"]);
    expect((await rejectionOf(Error, write())).message).to.equal("it is a folder");
    await rm(file, { recursive: true });
    execFileSync("mkfifo", [file]);
    expect((await rejectionOf(Error, write())).message).to.equal("it is not a regular file");
  });

  it("publishes no draft that another writer has removed or replaced", async () => {
    for (const meddle of ["remove", "replace"]) {
      const draft = await DraftFile.create(file);
      await rm(draft.path);
      if (meddle === "replace") await writeFile(draft.path, "another's");
      expect((await rejectionOf(Error, draft.publish())).message).to.contain("taken over");
      await draft.discard();
      expect(await readdir(root)).to.have.length(meddle === "replace" ? 1 : 0);
    }
  });

  it("has a draft of a given name only once, and frees the name when the draft is discarded", async () => {
    const path = join(root, "next");
    const draft = await DraftFile.at(path, file);
    expect(await rejection(DraftFile.at(path, file))).to.have.property("code", "EEXIST");
    expect(await modeOf(path)).to.equal(0o600);
    await draft.discard();
    expect(await readdir(root)).to.deep.equal([]);
    const published = await DraftFile.at(path, file);
    await published.publish();
    await published.discard();
    expect(await readdir(root)).to.deep.equal(["file"]);
  });
});
