import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { requireUsableFile } from "../../../src/util/files/usable-file.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

describe("requireUsableFile", () => {
  it("accepts an existing file, and one that can be created with its folders, without creating it", () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "there"), "x");
    for (const name of ["there", "new", "new/deep/file"]) requireUsableFile(join(folder, name));
    expect(readdirSync(folder)).to.deep.equal(["there"]);
  });

  it("refuses a folder, and a file below a file", () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "there"), "x");
    expect(() => requireUsableFile(folder)).to.throw("is not a regular file");
    expect(() => requireUsableFile(join(folder, "there/file"))).to.throw("can't be written");
  });

  it("refuses a file that this process may not read or write", function () {
    if (process.getuid?.() === 0) this.skip(); // the administrator may read and write everything
    const folder = temporaryFolder();
    const file = join(folder, "file");
    writeFileSync(file, "x");
    for (const mode of [0o200, 0o400]) {
      chmodSync(file, mode);
      expect(() => requireUsableFile(file), String(mode)).to.throw("EACCES");
    }
    const closed = join(folder, "closed");
    mkdirSync(closed, { mode: 0o500 });
    expect(() => requireUsableFile(join(closed, "file"))).to.throw("can't be written");
  });
});
