// Measures the cost of the framework relative to the same work without it: `npm run bench`, `npm
// run bench -- --only S1,S4a`, `-- --assert`. `-- --capture` compares the capture modes.
import { cpus } from "node:os";
import type { Scenario } from "./harness/scenario.js";
import { collectGarbage } from "./harness/measure.js";
import { readOptions } from "./harness/options.js";
import { isCaptureMet, renderCapture, runCapture } from "./harness/run-capture.js";
import { runScenario } from "./harness/run-scenario.js";
import { isMet, renderTable } from "./harness/table.js";
import { loadScenario, SCENARIO_IDS } from "./scenarios/all.js";

const options = readOptions(process.argv.slice(2), SCENARIO_IDS);
collectGarbage(); // fails here if the sides could not collect
const started = performance.now();
const chosen = await Promise.all(
  SCENARIO_IDS.filter((id) => options.only.includes(id)).map(loadScenario),
);

/** Measures the scenarios in sequence, and prints a table of all scenarios at the end. */
async function measure<R>(
  scenarios: readonly Scenario[],
  run: (scenario: Scenario) => Promise<readonly R[]>,
  render: (rows: readonly R[]) => string,
): Promise<readonly R[]> {
  const rows: R[] = [];
  for (const scenario of scenarios) {
    process.stderr.write(`${scenario.id} ...\n`);
    rows.push(...(await run(scenario)));
  }
  const seconds = ((performance.now() - started) / 1_000).toFixed(0);
  console.log(
    `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown CPU"}, ${seconds} s. Medians; a range is the framework's.\n`,
  );
  console.log(render(rows));
  return rows;
}

/** The scenarios whose work is tasks and tool calls in this process. */
const CAPTURED = /^S[1-5][ab]?$/;
const met = options.capture
  ? (
      await measure(
        chosen.filter(({ id }) => CAPTURED.test(id)),
        runCapture,
        renderCapture,
      )
    ).every(isCaptureMet)
  : (await measure(chosen, runScenario, renderTable)).every(isMet);
if (options.assert && !met) process.exitCode = 1;
