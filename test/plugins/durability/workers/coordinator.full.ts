// Takes too long for `npm test`: part of the step `restarts` of `npm run ci:full`.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { POSTGRES_URL, suiteSchema } from "../../../support/postgres.js";
import type { CoordinatorOptions } from "./coordinator.js";
import { digestTasks } from "./digest.js";

const ITEMS = 100_000;
const MOST_MIB = 400;
const HEAP_MIB = 304;
const PROGRAM = fileURLToPath(new URL("./coordinator.js", import.meta.url));

describe("the process of a map-reduce whose 100,000 items other processes execute", function () {
  this.timeout(60 * 60_000);
  const schema = suiteSchema("ae_coordinator_full");

  it("needs less than 400 MiB of memory", async () => {
    const o: CoordinatorOptions = { url: POSTGRES_URL, schema, items: ITEMS, window: 3_000 };
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...[`--max-old-space-size=${HEAP_MIB}`, "-C", "agentensemble-source", PROGRAM],
      JSON.stringify(o),
    ]);
    const { tasks, mostMiB } = JSON.parse(stdout) as { tasks: number; mostMiB: number };
    console.log(`      ${tasks} tasks, ${mostMiB} MiB`);
    expect(tasks).to.equal(digestTasks(ITEMS));
    expect(mostMiB).to.be.below(MOST_MIB);
  });
});
