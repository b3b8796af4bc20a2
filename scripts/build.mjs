// Compiles everything into dist/ and bundles the container and the hooks into one file, which makes a cold start several times faster.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const compiler = fileURLToPath(import.meta.resolve("@typescript/native/package.json")).replace(/package\.json$/, "bin/tsc");
const compiled = spawnSync(process.execPath, [compiler, "-p", "tsconfig.json"], { cwd: root, stdio: "inherit" });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);

await build({
  absWorkingDir: root,
  entryPoints: ["src/kernel/vendor.ts"],
  outfile: "dist/src/kernel/vendor.js",
  allowOverwrite: true,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: false,
  legalComments: "eof",
  logLevel: "warning",
});
