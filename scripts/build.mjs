// Compiles everything into dist/ and bundles the container and the hooks into one file, which makes a cold start several times faster.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { rollup } from "@rollup/wasm-node";

const root = fileURLToPath(new URL("..", import.meta.url));
// What was compiled from a file that is gone would go on being tested and shipped.
const output = `${root}dist/`;
for (const file of existsSync(output) ? readdirSync(output, { recursive: true, encoding: "utf8" }) : []) {
  const source = file.replace(/\.(d\.ts|js|js\.map)$/, ".ts");
  if (source !== file && !file.startsWith("bundle") && !existsSync(root + source)) rmSync(output + file);
}

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
  // tapable is CommonJS and requires node:util, which a bundle of ES modules can do only with a require of its own.
  banner: { js: 'import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);' },
  logLevel: "warning",
});

// What users load: few files instead of one for each module, because a process takes most of a millisecond for every file it loads. Parts that
// several entry points share, and those that are imported only when they are first needed, become files of their own. The modules
// themselves are there under the condition "agentensemble-source": tests use it, so that they and the internals they import are one copy.
const { exports: entries } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
const names = Object.values(entries).flatMap((entry) => (typeof entry === "string" ? [] : [entry.default.replace(/^\.\/dist\/bundle\/(.*)\.js$/, "$1")]));
rmSync(`${output}bundle`, { recursive: true, force: true });
const bundle = await rollup({
  input: Object.fromEntries(names.map((name) => [name, `${output}src/${name}.js`])),
  external: (id) => !id.startsWith(".") && !isAbsolute(id),
});
await bundle.write({
  dir: `${output}bundle`,
  format: "es",
  entryFileNames: "[name].js",
  chunkFileNames: "shared/[name]-[hash].js",
  hoistTransitiveImports: false,
});
await bundle.close();
