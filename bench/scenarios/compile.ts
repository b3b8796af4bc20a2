import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Scenario } from "../harness/scenario.js";

/** Number of runs of one line of the table. */
export const COMPILE_RUNS = 1_000;
export const COMPILE_PARTS = 4;
/** The text that the process prints after each part. */
export const MARK = "part done";

const SCRIPT = fileURLToPath(new URL("../processes/many-requests.js", import.meta.url));

/**
 * Counts the functions that V8 compiles to optimised code while a process sends the requests of S10
 * in sequence.
 */
export const compileScenario: Scenario = {
  id: "compile",
  lines: Array.from({ length: COMPILE_PARTS }, (_, part) => ({
    title: `compiled in requests ${part * COMPILE_RUNS + 1} to ${(part + 1) * COMPILE_RUNS}`,
    unit: "functions",
  })),
  rounds: 1,
  prepare: (side) =>
    Promise.resolve(async () => {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ["--trace-opt", SCRIPT, side],
        { maxBuffer: 64 * 1024 * 1024 },
      );
      const parts = stdout.split(MARK).slice(0, COMPILE_PARTS);
      return parts.map((part) => part.split("completed optimizing").length - 1);
    }),
};
