// What the framework itself costs, beside the same work written by hand: `npm run bench`, `npm run bench -- --only S1,S4a`, `-- --assert`.
import { cpus } from "node:os";
import type { Row } from "./harness/run-scenario.js";
import { collectGarbage } from "./harness/measure.js";
import { readOptions } from "./harness/options.js";
import { runScenario } from "./harness/run-scenario.js";
import { isMet, renderTable } from "./harness/table.js";
import { SCENARIOS } from "./scenarios/all.js";

const options = readOptions(
  process.argv.slice(2),
  SCENARIOS.map(({ id }) => id),
);
collectGarbage(); // fails at once where the sides could not
const started = performance.now();
const rows: Row[] = [];
for (const scenario of SCENARIOS) {
  if (!options.only.includes(scenario.id)) continue;
  process.stderr.write(`${scenario.id} ...\n`);
  rows.push(...(await runScenario(scenario)));
}
const seconds = ((performance.now() - started) / 1_000).toFixed(0);
console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown CPU"}, ${seconds} s. Medians; the range is the framework's.\n`);
console.log(renderTable(rows));
if (options.assert && !rows.every(isMet)) process.exitCode = 1;
