import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Scenario, SideName } from "../harness/scenario.js";

/** The processes of each side: one that only loads modules, and one that also executes a task. */
const PROCESSES: Readonly<Record<SideName, { readonly load: URL; readonly work: URL }>> = {
  promises: {
    load: new URL("../processes/empty.js", import.meta.url),
    work: new URL("../processes/promises.js", import.meta.url),
  },
  hooks: {
    load: new URL("../processes/import-hooks.js", import.meta.url),
    work: new URL("../processes/hooks.js", import.meta.url),
  },
  framework: {
    load: new URL("../processes/import-framework.js", import.meta.url),
    work: new URL("../processes/framework.js", import.meta.url),
  },
};

/** Returns the milliseconds from before the start of a process to after its end. */
function lifetime(script: URL): number {
  const before = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [fileURLToPath(script)], {
    encoding: "utf8",
  });
  const milliseconds = performance.now() - before;
  if (status !== 0) throw new Error(`${fileURLToPath(script)} failed: ${stderr}`);
  return milliseconds;
}

/**
 * A complete process that executes one task: the cost of every command-line tool, test worker and
 * cold container.
 */
export const coldStartScenario: Scenario = {
  id: "S9",
  lines: [
    { title: "process that runs one task", unit: "ms", goal: 160 },
    { title: "process that only loads what it needs", unit: "ms" },
  ],
  rounds: 15,
  async prepare(side) {
    const { load, work } = PROCESSES[side];
    const round = async (): Promise<number[]> => [lifetime(work), lifetime(load)];
    await round(); // fills the cache of the file system
    return round;
  },
};
