// Everything that must hold before a change is done. `--after-test`: the build and the tests, which run every example, have just run and left their coverage in coverage/tmp.
import { runSteps } from "./steps.mjs";

const afterTest = process.argv.includes("--after-test");
runSteps([
  ...(afterTest ? [] : [["build", "npm run --silent build"]]),
  ["lint", "npm run --silent lint"],
  ["format", "npm run --silent format:check"],
  ["import rules", "npm run --silent rules"],
  ["unused code", "npm run --silent unused"],
  afterTest
    ? ["coverage", "node scripts/coverage.mjs --after-test"]
    : ["tests and coverage", "npm run --silent coverage"],
  ["package", "npm run --silent package"],
  ...(afterTest ? [] : [["examples", "node scripts/run-examples.mjs"]]),
]);
