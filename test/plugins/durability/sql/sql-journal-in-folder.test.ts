import { expect } from "chai";
import { join } from "node:path";
import { JournalError } from "../../../../src/contracts/journal-errors.js";
import { openSqlJournal } from "../../../../src/plugins/durability/shared/sql/sql-journal.js";
import { FileLock } from "../../../../src/util/files/file-lock.js";
import { rejection } from "../../../support/rejection.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";

describe("a SQL journal in a folder of PGlite", () => {
  it("is refused if the folder is in use, with the name of its holder", async () => {
    const folder = join(temporaryFolder(), "runs");
    const lock = await FileLock.acquire(`${folder}.lock`);
    const journal = openSqlJournal({ url: `pglite:${folder}` });
    try {
      const error = await rejection(journal.get("r"));
      expect(JournalError.isInstance(error)).to.equal(true);
      expect(String(error))
        .to.include(folder)
        .and.match(/in use by this process$/);
      expect(journal.reviews.howToAnswer?.("q")).to.include(` --store pglite:${folder}`);
    } finally {
      await journal.close();
      await lock.release();
    }
  });
});
