// Serves the site of docs/ on this machine, and updates it when a page changes: `npm run docs`. The
// first call installs the packages of the site by the lock file in site/. `npm run docs -- --build`
// builds the site into site/.out and checks it in Chromium instead.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runStep } from "./steps.mjs";

const site = fileURLToPath(new URL("../site", import.meta.url));
const install = ["npm", "ci", "--prefix", site, "--ignore-scripts", "--no-audit", "--no-fund"];
const script = process.argv.includes("--build") ? "build" : "dev";
const NO_LIMIT = { limitMs: 0 }; // the site is served until Ctrl-C
const installed = existsSync(`${site}/node_modules`)
  ? { status: 0 }
  : runStep("packages", install, NO_LIMIT);
process.exitCode =
  installed.status || runStep("site", ["npm", "run", script, "--prefix", site], NO_LIMIT).status;
