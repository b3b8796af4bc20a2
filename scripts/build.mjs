// Compiles all sources into dist/ and bundles the packages of vendor files. A cold start with the
// bundled container and hooks is several times faster. `--unchecked` omits the type check, most of
// the work, for the first start in a fresh clone.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPage } from "./build-page.mjs";
import { isBuilt, stampBuild } from "./build-stamp.mjs";
import { writeDistPackage } from "./dist-package.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const isChecked = !process.argv.includes("--unchecked");
if (isBuilt(root, isChecked)) process.exit();
const esbuild = await import("esbuild");
const { build } = esbuild;
const { rollup } = await import("@rollup/wasm-node");

// Removes the output of deleted sources. Otherwise it would still be tested and published.
const output = `${root}dist/`;
for (const file of existsSync(output)
  ? readdirSync(output, { recursive: true, encoding: "utf8" })
  : []) {
  const source = file.replace(/\.(d\.ts|js|js\.map)$/, ".ts");
  if (source !== file && !file.startsWith("bundle") && !existsSync(root + source))
    rmSync(output + file);
}

const compiler = fileURLToPath(import.meta.resolve("@typescript/native/package.json")).replace(
  /package\.json$/,
  "bin/tsc",
);
// The pages are compiled for browsers. Here, only their types are checked.
const pages = ["page/tsconfig.json", "examples/chat-app/page"];
for (const project of ["tsconfig.json", ...(isChecked ? pages : [])]) {
  const flags = isChecked ? [] : ["--noCheck"];
  const compiled = spawnSync(process.execPath, [compiler, "-p", project, ...flags], {
    cwd: root,
    stdio: "inherit",
  });
  if (compiled.status !== 0) process.exit(compiled.status ?? 1);
}

writeDistPackage();

// Files that only export packages. The build bundles these packages into the files: the published
// package does not depend on them.
const vendored = [
  "kernel/vendor",
  "util/media-vendor",
  "plugins/providers/shared/event-source-vendor",
  "plugins/tools/shared/diff-vendor",
  "plugins/dashboard/server/ws-vendor",
  "plugins/guards/personal-data/numbers-vendor",
  "plugins/guards/language/language-vendor",
  "evals/datasets/csv-vendor",
];
// A bundle of ES modules has no `require`. The modules of Node.js that tapable requires become
// imports by name, because bundlers of users remove unused names. Other packages load the modules
// of Node.js at run time.
const builtins = {
  name: "builtins",
  setup(bundler) {
    bundler.onResolve({ filter: /^(?:node:)?\w+$/ }, ({ kind, path, importer }) => {
      const name = path.replace("node:", "");
      if (kind === "import-statement" && isBuiltin(name))
        return { path: `node:${name}`, external: true };
      if (kind !== "require-call" || !isBuiltin(name)) return undefined;
      const isTapable = /[\\/]tapable[\\/]/.test(importer);
      return { path: name, namespace: isTapable ? "tapable-builtins" : "builtins" };
    });
    bundler.onLoad({ filter: /^util$/, namespace: "tapable-builtins" }, () => ({
      contents: 'export { deprecate } from "node:util";',
    }));
    bundler.onLoad({ filter: /^/, namespace: "builtins" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};
// Packages that a vendor file loads at its first call. In a bundle, the `require` of the bundler
// loads them.
const lazily = {
  name: "lazily",
  setup(bundler) {
    bundler.onLoad({ filter: /media-vendor\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replace("createRequire(import.meta.url)(", "require("),
      loader: "ts",
    }));
  },
};
for (const file of vendored)
  await build({
    absWorkingDir: root,
    entryPoints: [`src/${file}.ts`],
    outfile: `dist/src/${file}.js`,
    allowOverwrite: true,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: false,
    minifyWhitespace: true, // saves a third of the code that a process reads at its start
    legalComments: "eof",
    plugins: [builtins, lazily],
    external: ["bufferutil", "utf-8-validate"], // optional packages of ws
    logLevel: "warning",
  });

// The files that users load. There are few files, because a process needs most of a millisecond for
// each file. Parts that several entry points share become separate files. Parts that are imported
// at their first use also become separate files. Tests load the modules under a condition of
// dist/package.json: the modules and the imported internals are then one copy.
const { exports: entries, bin } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
const files = [
  ...Object.values(entries).flatMap((entry) => (typeof entry === "string" ? [] : [entry.default])),
  ...Object.values(bin),
];
const names = files.map((file) => file.replace(/^\.\/dist\/bundle\/(.*)\.js$/, "$1"));
// `new Worker(new URL("./file.js", import.meta.url))`: the code of a thread becomes a data address
// in the file that starts it. Users' bundlers would not find a separate file.
const threads = {
  name: "threads",
  async transform(code, id) {
    const [address, file] =
      /new URL\("(\.\/[\w-]+-worker\.js)", import\.meta\.url\)/.exec(code) ?? [];
    if (file === undefined) return undefined;
    const { outputFiles } = await build({
      entryPoints: [resolve(dirname(id), file)],
      write: false,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      minifyWhitespace: true,
      logLevel: "warning",
    });
    const data = Buffer.from(outputFiles[0].contents).toString("base64");
    return code.replace(address, `new URL("data:text/javascript;base64,${data}")`);
  },
};
// All modules that the root loads immediately become two files. One of them has only the contracts.
// By default, the bundler creates a file for each set of modules that some entry points share. The
// root would then load dozens of files.
const loadedByRoot = new Set();
const loadedByContracts = new Set();
function visit(id, infoOf, loaded) {
  if (loaded.has(id) || !isAbsolute(id)) return;
  loaded.add(id);
  for (const imported of infoOf(id).importedIds) visit(imported, infoOf, loaded);
}
function chunkOf(id, { getModuleInfo }) {
  if (loadedByRoot.size === 0) {
    visit(`${output}src/index.js`, getModuleInfo, loadedByRoot);
    for (const loaded of loadedByRoot)
      if (loaded.startsWith(`${output}src/contracts/`))
        visit(loaded, getModuleInfo, loadedByContracts);
  }
  if (!loadedByRoot.has(id)) return undefined;
  return loadedByContracts.has(id) ? "contracts" : "core";
}
rmSync(`${output}bundle`, { recursive: true, force: true });
const bundle = await rollup({
  input: Object.fromEntries(names.map((name) => [name, `${output}src/${name}.js`])),
  plugins: [threads],
  external: (id) => !id.startsWith(".") && !isAbsolute(id),
  onwarn({ message }) {
    throw new Error(message); // files that import each other in a cycle may fail to load
  },
});
await bundle.write({
  dir: `${output}bundle`,
  format: "es",
  entryFileNames: "[name].js",
  chunkFileNames: "shared/[name]-[hash].js",
  hoistTransitiveImports: false,
  manualChunks: chunkOf,
});
await bundle.close();
await buildPage(root, esbuild);
for (const command of Object.values(bin)) chmodSync(root + command, 0o755);
stampBuild(root, isChecked);
