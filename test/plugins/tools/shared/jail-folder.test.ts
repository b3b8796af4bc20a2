import { renameSync, symlinkSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { AgentEnsembleError } from "../../../../src/contracts/errors.js";
import { JailErrors } from "../../../../src/plugins/tools/shared/jail-errors.js";
import { JailFolder } from "../../../../src/plugins/tools/shared/jail-folder.js";
import { openIn } from "../../../../src/plugins/tools/shared/jail-reading.js";
import type { JailRoot } from "../../../../src/plugins/tools/shared/jail-root.js";
import { rejection } from "../../../support/rejection.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { putFiles } from "../tool-support.js";

const errors = new JailErrors("base");

/** A folder that is a link to `outside` only while a file in it is looked at and opened. */
class SwappedFolder {
  constructor(
    readonly folder: JailFolder,
    readonly outside: string,
  ) {}

  async through<T>(work: () => Promise<T>): Promise<T> {
    const { path } = this.folder;
    renameSync(path, `${path}-kept`);
    symlinkSync(this.outside, path);
    try {
      return await work();
    } finally {
      renameSync(path, `${path}-link`);
      renameSync(`${path}-kept`, path);
    }
  }
}

describe("a folder of a jail that is identified by its path only", () => {
  it("refuses a file that was opened while the folder was a link to another one", async () => {
    const base = await realpath(temporaryFolder());
    putFiles(base, { "in/folder/secret": "harmless", "out/secret": "the secret" });
    const folder = await JailFolder.open(join(base, "in/folder"), errors, false);
    const swapped = new SwappedFolder(folder, join(base, "out"));
    const { stat, openFile } = folder;
    let looks = 0;
    folder.openFile = (name) => swapped.through(() => openFile.call(folder, name));
    folder.stat = (name) =>
      ++looks % 2 === 1 ? swapped.through(() => stat.call(folder, name)) : stat.call(folder, name);
    const root = { errors, path: join(base, "in") } as unknown as JailRoot; // openIn uses no more of it
    const error = await rejection(openIn(root, folder, "secret", "folder/secret"));
    expect(AgentEnsembleError.isInstance(error)).to.equal(true);
    expect((error as Error).message).to.include("leads to something else each time");
  });
});
