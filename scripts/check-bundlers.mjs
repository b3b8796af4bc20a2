// Bundles a program that imports every entry point with webpack, Vite and bun, and runs the
// bundles. A warning is an error. Runs the unbundled program in Bun, in Deno, and in a project of
// pnpm. Loads every entry point from CommonJS. Only the optional package of a thread is installed.
// The tests bundle with esbuild and rollup. docs/where-it-runs.md lists these checks.
import assert from "node:assert/strict";
import { join } from "node:path";
import { entryPoints, inTemporaryFolder, installPacked, output } from "./packed-project.mjs";

const specifiers = entryPoints();
const nameOf = (specifier) => `m${specifiers.indexOf(specifier)}`;

const PROGRAM = `import { createServer } from "node:http";
${specifiers.map((specifier) => `import * as ${nameOf(specifier)} from "${specifier}";`).join("\n")}
const { Ensemble, Task } = ${nameOf("agentensemble")};
const { webScraperTool } = ${nameOf("agentensemble/tools")};
const rawOf = async (task, options = {}) => (await new Ensemble({ tasks: [task], ...options }).run()).raw;
const add = new Task({ description: "add", handler: () => String(1 + 1) });
console.log(await rawOf(add), [${specifiers.map(nameOf).join(", ")}].length);
console.log((await rawOf(add, { contextFormat: "TOON" }).catch((error) => error)).hint);
const server = createServer((_request, response) => {
  response.setHeader("content-type", "text/html");
  response.end("<p>a <b>page</b></p>");
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const host = "127.0.0.1:" + server.address().port;
const handler = webScraperTool({ allow: { hosts: [host] } });
const description = JSON.stringify({ url: "http://" + host });
console.log(await rawOf(new Task({ description, template: false, handler })).catch(({ message }) => message));
server.close();
`;
const EXPECTED = `2 ${specifiers.length}\nRun: npm install @toon-format/toon\n`;
const PAGE = "a page";
/**
 * The error of threads. They need the addresses of packages, and a bundle of CommonJS can't
 * determine them.
 */
const NO_PAGE = "bundle to ES modules";

/** @throws AssertionError for the output of a program that is not as expected. */
function checkRun(folder, file, page, [runtime, ...args] = [process.execPath]) {
  const text = output(folder, runtime, [...args, file]);
  assert.ok(text.startsWith(EXPECTED) && text.slice(EXPECTED.length).includes(page), text);
}

/** Checks a bundle in the same way. The bundler must have printed nothing. */
function checkBundle(folder, file, page) {
  checkRun(folder, file, page);
  console.log(`${file}: runs, and was bundled without errors and warnings`);
}

/** Bundles for servers with Vite, all packages included, and prints warnings. */
const VITE = `import { build } from "vite";
await build({
  configFile: false,
  logLevel: "warn",
  ssr: { noExternal: true },
  build: { ssr: "program.mjs", outDir: "vite", target: "node20", chunkSizeWarningLimit: 10_000 },
});
`;

/** Loads every entry point from CommonJS and runs a task. */
const COMMON_JS = `const loaded = ${JSON.stringify(specifiers)}.map((specifier) => require(specifier));
const { Ensemble, Task } = loaded[0];
const add = new Task({ description: "add", handler: () => String(1 + 1) });
new Ensemble({ tasks: [add] }).run().then(({ raw }) => console.log(raw, loaded.length));
`;

/** Bundles with webpack in the format that the argument names, and prints errors and warnings. */
const WEBPACK = `import { resolve } from "node:path";
import webpack from "webpack";
const module = process.argv[2] === "esm";
const stats = await new Promise((done, fail) => {
  webpack(
    {
      mode: "production",
      target: "node20",
      entry: "./program.mjs",
      experiments: { outputModule: module },
      optimization: { minimize: module },
      output: { path: resolve("webpack-" + process.argv[2]), filename: module ? "program.mjs" : "program.cjs", module },
    },
    (error, result) => (error ? fail(error) : done(result)),
  );
});
const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
for (const { moduleName, message } of [...errors, ...warnings]) console.log(moduleName, message);
`;

await inTemporaryFolder((folder) => {
  const archive = installPacked(
    folder,
    ["webpack@5", "vite@8", "bun@1", "deno@2", "pnpm@10", "html-to-text@10"],
    {
      "program.mjs": PROGRAM,
      "webpack.mjs": WEBPACK,
      "vite.mjs": VITE,
      "common.cjs": COMMON_JS,
      "pnpm/package.json": '{ "private": true, "type": "module" }',
      "pnpm/program.mjs": PROGRAM,
    },
  );
  const node = process.execPath;
  for (const [format, file, page] of [
    ["esm", "program.mjs", PAGE],
    ["cjs", "program.cjs", NO_PAGE],
  ]) {
    assert.equal(output(folder, node, ["webpack.mjs", format]), "", `webpack, ${format}`);
    checkBundle(folder, join(`webpack-${format}`, file), page);
  }
  assert.equal(output(folder, node, ["vite.mjs"]), "", "vite");
  checkBundle(folder, join("vite", "program.js"), PAGE);
  output(folder, node, ["node_modules/bun/install.js"]); // installs the program for this machine
  const told = output(folder, "node_modules/.bin/bun", [
    ...["build", "program.mjs", "--target=node", "--outfile=bun/program.mjs"],
  ]);
  assert.doesNotMatch(told, /warn|error/i);
  checkBundle(folder, join("bun", "program.mjs"), PAGE);
  checkRun(folder, "program.mjs", PAGE, [join(folder, "node_modules/.bin/bun")]);
  console.log("bun: runs");
  output(folder, node, ["node_modules/deno/install.cjs"]);
  const deno = [join(folder, "node_modules/deno/deno"), "run", "--allow-all", "--no-prompt"];
  checkRun(folder, "program.mjs", PAGE, deno);
  console.log("deno: runs");
  assert.equal(output(folder, node, ["common.cjs"]), `2 ${specifiers.length}\n`);
  console.log("CommonJS: runs");
  const project = join(folder, "pnpm");
  output(project, join(folder, "node_modules/.bin/pnpm"), [
    ...["add", "--ignore-scripts", "--ignore-workspace", archive, "html-to-text@10"],
  ]);
  checkRun(project, "program.mjs", PAGE);
  console.log("pnpm: runs");
});
