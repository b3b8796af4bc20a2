// Runs all checks, including the checks that take too long for CI. These use every supported
// version of Node, random seeds, killed processes and restarted servers. Others use web servers,
// bundlers and runners from npm. Also runs the measurements. Continues after a failed step. Prints
// a table, and fails if any step failed. Arguments select steps by the beginnings of their names.
import { randomInt } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runStep } from "./steps.mjs";

const NODE_VERSIONS = [20, 22, 24];
const HALF_HOUR_MS = 30 * 60_000;
const root = fileURLToPath(new URL("..", import.meta.url));
const mocha = "node_modules/mocha/bin/mocha.js --parallel";
const rounds = Number(process.env.FUZZ_SEEDS ?? 10);
if (!Number.isSafeInteger(rounds) || rounds < 1) {
  console.error(`FUZZ_SEEDS must be an integer > 0, got: '${process.env.FUZZ_SEEDS}'`);
  process.exit(1);
}

/** Returns the compiled test files with property tests, and the test files of random teams. */
function propertyTests() {
  return readdirSync(`${root}dist/test`, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.js"))
    .map((file) => `dist/test/${file}`)
    .filter((file) =>
      /from ".*(?:fast-check|\/fuzzed-teams\.js)"/.test(readFileSync(root + file, "utf8")),
    );
}

/** Runs the property tests with a new seed. `FUZZ_SEED` repeats a failed run. */
function fuzz() {
  const FUZZ_SEED = String(randomInt(2 ** 31));
  return runStep(`fuzz FUZZ_SEED=${FUZZ_SEED}`, `node ${mocha} ${propertyTests().join(" ")}`, {
    env: { FUZZ_RUNS: "50", ...process.env, FUZZ_SEED },
    limitMs: HALF_HOUR_MS,
  });
}

const measured = (script) => [
  script,
  () => runStep(script, `npm run --silent ${script}`, { limitMs: HALF_HOUR_MS }),
];
/** Returns the step of a script that installs other packages, or packs a copy of this package. */
const checked = (name) => [
  name,
  () => runStep(name, `node scripts/check-${name}.mjs`, { limitMs: HALF_HOUR_MS }),
];
const steps = [
  ["checks", () => runStep("checks", "npm run --silent check", { limitMs: 2 * HALF_HOUR_MS })],
  ...NODE_VERSIONS.map((version) => [
    `node ${version}`,
    () =>
      runStep(`node ${version}`, `npx --yes node@${version} ${mocha} 'dist/test/**/*.test.js'`, {
        env: { ALL_CASES: "1", ...process.env },
        limitMs: HALF_HOUR_MS,
      }),
  ]),
  ...Array.from({ length: rounds }, () => ["fuzz", fuzz]),
  [
    "durable kills",
    () =>
      runStep("durable kills", `node ${mocha} dist/test/plugins/durability/kills/*.test.js`, {
        env: {
          DURABLE_KILLS: "200",
          FUZZ_SEED: String(randomInt(2 ** 31)),
          ...process.env,
        },
        limitMs: 4 * HALF_HOUR_MS,
      }),
  ],
  [
    "durable examples",
    () =>
      runStep("durable examples", "node scripts/durable-examples.mjs", { limitMs: HALF_HOUR_MS }),
  ],
  ["http servers", () => runStep("http servers", "node scripts/http-servers.mjs")],
  checked("pack"),
  checked("install"),
  checked("templates"),
  ["site", () => runStep("site", "node scripts/docs.mjs --build", { limitMs: HALF_HOUR_MS })],
  checked("bundlers"),
  checked("apps"),
  ["compare", () => runStep("compare", "node scripts/compare.mjs", { limitMs: HALF_HOUR_MS })],
  checked("runners"),
  checked("deploy"),
  [
    "page speed",
    () =>
      runStep("page speed", "node --conditions=agentensemble-source scripts/page-speed.mjs", {
        limitMs: HALF_HOUR_MS,
      }),
  ],
  [
    "restarts",
    () =>
      runStep(
        "restarts",
        "node node_modules/mocha/bin/mocha.js --ignore 'dist/test/**/{chaos,interleavings,spread}.full.js' 'dist/test/**/*.full.js'",
        { limitMs: HALF_HOUR_MS },
      ),
  ],
  [
    "chaos",
    () =>
      runStep("chaos", "node node_modules/mocha/bin/mocha.js 'dist/test/**/chaos.full.js'", {
        limitMs: 2 * HALF_HOUR_MS,
      }),
  ],
  [
    "interleavings",
    () =>
      runStep(
        "interleavings",
        "node node_modules/mocha/bin/mocha.js dist/test/plugins/conversation/interleavings.full.js",
        { limitMs: 2 * HALF_HOUR_MS },
      ),
  ],
  [
    "spread",
    () =>
      runStep("spread", "node node_modules/mocha/bin/mocha.js 'dist/test/**/spread.full.js'", {
        limitMs: 4 * HALF_HOUR_MS,
      }),
  ],
  measured("recall"),
  measured("bench"),
];

const wanted = process.argv.slice(2);
const chosen = steps.filter(
  ([name]) => wanted.length === 0 || wanted.some((start) => name.startsWith(start)),
);
if (chosen.length === 0) {
  const names = [...new Set(steps.map(([name]) => name))].join(", ");
  console.error(`No step begins with ${wanted.join(" or ")}. There are: ${names}.`);
  process.exit(1);
}
const build = runStep("build", "npm run --silent build");
const ends = build.status === 0 ? [build, ...chosen.map(([, run]) => run())] : [build];
console.table(ends.map(({ name, end, seconds }) => ({ step: name, end, seconds })));
process.exitCode = ends.some(({ status }) => status !== 0) ? 1 : 0;
