import { expect } from "chai";
import { open, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isAtPath } from "../../../src/util/files/same-file.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

describe("isAt", () => {
  it("is true for an open file until it is removed or replaced", async () => {
    const root = temporaryFolder();
    const [path, other] = [join(root, "file"), join(root, "other")];
    const file = await open(path, "wx");
    try {
      expect(await isAtPath(file, path)).to.equal(true);
      await symlink(path, other);
      expect(await isAtPath(file, other)).to.equal(true);
      await rm(other);
      await writeFile(other, "");
      await rename(other, path);
      expect(await isAtPath(file, path)).to.equal(false);
      await rm(path);
      expect(await isAtPath(file, path)).to.equal(false);
    } finally {
      await file.close();
    }
  });
});
