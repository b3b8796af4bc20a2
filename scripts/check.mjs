// Everything that must hold before a change is done. The tests check the import rules. `--after-test`: the build and the tests, which run every example, have just run and left their coverage in coverage/tmp.
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
    ["lint of the tests", "npx eslint test"],
    ["package", "npm run --silent package"],
    ...(afterTest ? [["coverage", "node scripts/coverage.mjs --after-test"]] : []),
    ["import rules", "npm run --silent rules"],
    ["unused code", "npm run --silent unused"],
    ["format", "npm run --silent format:check"],
    ...(afterTest ? [] : [["examples", "node scripts/run-examples.mjs"]]),
  ],
  2,
);
