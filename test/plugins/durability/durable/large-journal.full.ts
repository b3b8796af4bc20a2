// Takes too long for `npm test`: a step of `npm run ci:full`.
import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { temporaryFolder } from "../../../support/temporary-folder.js";

const PROGRAM = fileURLToPath(new URL("./large-run.js", import.meta.url));
const TASKS = 1_000;
const run = promisify(execFile);

describe("a run with a journal of 1 GB", function () {
  this.timeout(900_000);

  it("is created, listed and resumed with a heap of 256 MB, without repeated calls", async () => {
    const folder = temporaryFolder();
    const play = async (end: string): Promise<unknown> => {
      const options = ["--max-old-space-size=256", "-C", "agentensemble-source"];
      const { stdout } = await run(process.execPath, [...options, PROGRAM, folder, end]);
      return JSON.parse(stdout) as unknown;
    };
    expect(await play("fails")).to.deep.equal({
      exitReason: "ERROR",
      asked: TASKS * 2,
      listed: [TASKS],
    });
    expect((await stat(join(folder, "r.jsonl"))).size).to.be.greaterThan(TASKS << 20);
    expect(await play("ends")).to.deep.equal({
      exitReason: "COMPLETED",
      asked: 0,
      listed: [TASKS + 1],
    });
  });
});
