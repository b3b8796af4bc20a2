// Writes test/architecture/public-api.json: the names that each entry point exports. A test
// compares these names with the package. `--print` only prints them. Needs a build. TypeScript's
// checker follows the declaration files, including `export *`.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import ts from "typescript";
import { sourceOf } from "./dist-package.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const { exports } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
const entries = Object.entries(exports).flatMap(([name, paths]) =>
  typeof paths === "string" ? [] : [{ name, paths }],
);
const program = ts.createProgram(
  entries.map(({ paths }) => `${root}${paths.types}`),
  {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    noLib: true,
    types: [],
  },
);
const checker = program.getTypeChecker();

/** Returns all names of a declaration file, including types. */
function namesOf(file) {
  const module = checker.getSymbolAtLocation(program.getSourceFile(file));
  return checker.getExportsOfModule(module).map((symbol) => symbol.getName());
}

const api = {};
for (const { name, paths } of entries) {
  const values = Object.keys(await import(pathToFileURL(`${root}${sourceOf(paths)}`).href)).sort();
  const types = namesOf(`${root}${paths.types}`).filter((type) => !values.includes(type));
  api[name] = { values, types: types.sort() };
}

const text = `${JSON.stringify(api, undefined, 2)}\n`;
if (process.argv.includes("--print")) process.stdout.write(text);
else writeFileSync(`${root}test/architecture/public-api.json`, text);
