// Bundles a program that imports every entry point with webpack and bun, without a warning, and runs the bundles. No optional package is installed but the one
// that a thread needs. The tests do the same with esbuild and rollup.
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
/** Threads get the addresses of packages, which a bundle of CommonJS can't find out. */
const NO_PAGE = "bundle to ES modules";

/** @throws AssertionError for the output of a bundle that is not as expected. */
function checkRun(folder, file, page) {
  const text = output(folder, process.execPath, [file]);
  assert.ok(text.startsWith(EXPECTED) && text.slice(EXPECTED.length).includes(page), text);
  console.log(`${file}: runs, and was bundled without errors and warnings`);
}

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
  installPacked(folder, ["webpack@5", "bun@1", "html-to-text@10"], {
    "program.mjs": PROGRAM,
    "webpack.mjs": WEBPACK,
  });
  const node = process.execPath;
  for (const [format, file, page] of [
    ["esm", "program.mjs", PAGE],
    ["cjs", "program.cjs", NO_PAGE],
  ]) {
    assert.equal(output(folder, node, ["webpack.mjs", format]), "", `webpack, ${format}`);
    checkRun(folder, join(`webpack-${format}`, file), page);
  }
  output(folder, node, ["node_modules/bun/install.js"]); // puts the program of this machine in its place
  const told = output(folder, "node_modules/.bin/bun", [
    ...["build", "program.mjs", "--target=node", "--outfile=bun/program.mjs"],
  ]);
  assert.doesNotMatch(told, /warn|error/i);
  checkRun(folder, join("bun", "program.mjs"), PAGE);
});
