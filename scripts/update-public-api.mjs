// Writes test/architecture/public-api.json: the names that each entry point exports, as a test pins them. `--print` only shows them.
// Needs a build. Entry points list their names one by one (no `export *`), so the declaration files can be read with two patterns.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Names of a declaration file's exports that exist only as types. */
function typesOf(declarations, values) {
  const lists = [...declarations.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap((match) =>
    match[1].split(","),
  );
  const declared = [
    ...declarations.matchAll(/^export (?:declare )?(?:abstract )?(?:interface|type|class) (\w+)/gm),
  ].map((match) => match[1]);
  const names = [...lists.map((name) => name.trim().split(/\s+/).at(-1)), ...declared].filter(
    Boolean,
  );
  return [...new Set(names)].filter((name) => !values.includes(name)).sort();
}

const { exports } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
const api = {};
for (const [entry, paths] of Object.entries(exports)) {
  if (typeof paths === "string") continue;
  const file = `${root}${paths.default.replace("./dist/bundle/", "dist/src/")}`;
  const values = Object.keys(await import(pathToFileURL(file).href)).sort();
  api[entry] = {
    values,
    types: typesOf(readFileSync(file.replace(/\.js$/, ".d.ts"), "utf8"), values),
  };
}

const text = `${JSON.stringify(api, undefined, 2)}\n`;
if (process.argv.includes("--print")) process.stdout.write(text);
else writeFileSync(`${root}test/architecture/public-api.json`, text);
