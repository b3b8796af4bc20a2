import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { compareTraces } from "../../src/cli/trace-diff.js";
import { readTraceFile } from "../../src/cli/trace-file.js";
import { FileFormatError } from "../../src/contracts/state-errors.js";
import { rejectionOf } from "../support/rejection.js";
import { temporaryFolder } from "../support/temporary-folder.js";

describe("a large trace", () => {
  const written = (taskTraces: string): string => {
    const path = join(temporaryFolder(), "run.trace.json");
    writeFileSync(path, `{"schemaVersion":"1.3",\n"taskTraces":[${taskTraces}]}`);
    return path;
  };

  it("is compared in one pass, even if it contains a task 40,000 times", async () => {
    const task = JSON.stringify({ taskId: "a", finalOutput: "x" });
    const view = await readTraceFile(written(Array.from({ length: 40_000 }, () => task).join()));
    const { different, tasks } = compareTraces(view, view);
    expect({ different, count: tasks.length }).to.deep.equal({ different: false, count: 40_000 });
  });

  const nested = (levels: number): string =>
    `${'{"taskId":"x","delegations":[{"workerTrace":'.repeat(levels)}{"taskId":"end"}${"}]}".repeat(levels)}`;

  it("may have delegations in delegations, up to a limit", async () => {
    expect((await readTraceFile(written(nested(150)))).tasks).to.have.lengthOf(1);
    for (const levels of [250, 5000]) {
      const path = written(nested(levels));
      const error = await rejectionOf(FileFormatError, readTraceFile(path));
      expect(error).to.include({ path, line: 2 });
      expect(error.message).to.include("nested deeper than 200 levels");
    }
  });
});
