import { expect } from "chai";
import { existsSync } from "node:fs";
import { stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../../../src/util/files/make-folder.js";
import { rejectionOf } from "../../support/rejection.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

describe("makeFolder", () => {
  let root: string;
  beforeEach(() => void (root = temporaryFolder()));

  it("creates a folder and its parents, readable by their owner only", async () => {
    await makeFolder(join(root, "a", "b", "c"));
    for (const path of ["a", "a/b", "a/b/c"])
      expect((await stat(join(root, path))).mode & 0o777).to.equal(0o700);
    await makeFolder(join(root, "a", "b", "c"));
  });

  it("does not change an existing folder, also through a link", async () => {
    await symlink(root, join(root, "link"));
    await makeFolder(join(root, "link", "deep"));
    expect(existsSync(join(root, "deep"))).to.equal(true);
  });

  it("creates the same folder for concurrent callers", async () => {
    await Promise.all(Array.from({ length: 20 }, () => makeFolder(join(root, "x", "y", "z"))));
    expect(existsSync(join(root, "x", "y", "z"))).to.equal(true);
  });

  it("names a file in the place of a folder on the way", async () => {
    await writeFile(join(root, "file"), "");
    for (const path of ["file", "file/deep", "file/deep/er"]) {
      expect((await rejectionOf(Error, makeFolder(join(root, path)))).message).to.include(
        `'${join(root, "file")}' is not a folder`,
      );
    }
  });

  const itWithProc = existsSync("/proc/self") ? it : (): void => undefined; // elsewhere there is no such place
  itWithProc("rejects if the system creates no folder, instead of repeating forever", async () => {
    expect((await rejectionOf(Error, makeFolder("/proc/not-there/deep"))).message).to.include(
      "'/proc/not-there' can't be made",
    );
  });
});
