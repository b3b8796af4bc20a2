// Serves the site over docs/ on this machine, and renews it when a page changes: `npm run docs`. The first time it installs the packages of the site, which
// have a lock file in site/. `npm run docs -- --build` builds the site into site/.out and checks it in Chromium instead.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runSteps } from "./steps.mjs";

const site = fileURLToPath(new URL("../site", import.meta.url));
runSteps([
  ...(existsSync(`${site}/node_modules`)
    ? []
    : [
        [
          "packages",
          ["npm", "ci", "--prefix", site, "--ignore-scripts", "--no-audit", "--no-fund"],
        ],
      ]),
  ["site", ["npm", "run", process.argv.includes("--build") ? "build" : "dev", "--prefix", site]],
]);
