// Checks that must pass before a change is done.
import { runAtOnce, runSteps } from "./steps.mjs";

runSteps([
  ["build", "npm run --silent build"],
  ["tests and coverage", "npm run --silent coverage"],
]);
await runAtOnce(
  [
    // Two parts that run concurrently.
    ["lint", "npm run --silent lint -- --ignore-pattern 'test/**'"],
    ["lint of the tests", "npx eslint test"],
    ["import rules", "npm run --silent rules"],
    ["package", "npm run --silent package"],
    ["unused code", "npm run --silent unused"],
    ["format", "npm run --silent format:check"],
    ["examples", "node scripts/run-examples.mjs"],
  ],
  2,
);
