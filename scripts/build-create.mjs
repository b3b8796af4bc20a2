// Bundles the program of the package create-agentensemble into create-agentensemble/index.js. Runs
// before that package is packed.
import { chmodSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const outfile = `${root}create-agentensemble/index.js`;
await build({
  entryPoints: [`${root}src/cli/create/create-main.ts`],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  banner: { js: "#!/usr/bin/env node" },
  logLevel: "warning",
});
chmodSync(outfile, 0o755);
