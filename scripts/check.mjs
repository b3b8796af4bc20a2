// Checks that must pass before a change is done. `--after-test`: only those for which CI has time after the build and the tests.
import { runAtOnce, runSteps } from "./steps.mjs";

const afterTest = process.argv.includes("--after-test");
if (!afterTest) {
  runSteps([
    ["build", "npm run --silent build"],
    ["tests and coverage", "npm run --silent coverage"],
  ]);
}
await runAtOnce(
  [
    // In two parts, so that they run at once.
    ["lint", "npm run --silent lint -- --ignore-pattern 'test/**'"],
    ["unused code", "npm run --silent unused"],
    ["format", "npm run --silent format:check"],
    ...(afterTest
      ? []
      : [
          ["lint of the tests", "npx eslint test"],
          ["import rules", "npm run --silent rules"],
          ["package", "npm run --silent package"],
          ["examples", "node scripts/run-examples.mjs"],
        ]),
  ],
  2,
);
