// Writes dist/package.json: the package `agentensemble` for the compiled tests, examples and
// benchmarks. With the condition "agentensemble-source", they load the compiled modules. Otherwise
// they load the bundle that users load. The published package contains only the bundle.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Returns the compiled module of an entry point. */
export function sourceOf({ types }) {
  return types.replace(/\.d\.ts$/, ".js");
}

/** Writes the file unless it is up to date. */
export function writeDistPackage() {
  const { name, version, type, bin, exports, peerDependencies, peerDependenciesMeta, ...rest } =
    JSON.parse(readFileSync(`${root}package.json`, "utf8"));
  const inDist = (path) => path.replace("./dist/", "./");
  const entries = Object.entries(exports).map(([path, entry]) => [
    path,
    typeof entry === "string"
      ? entry
      : { "agentensemble-source": inDist(sourceOf(entry)), default: inDist(entry.default) },
  ]);
  const bins = Object.entries(bin).map(([command, path]) => [command, inDist(path)]);
  const text = JSON.stringify(
    {
      ...{ name, version, type, private: true, engines: rest.engines },
      ...{ bin: Object.fromEntries(bins), exports: Object.fromEntries(entries) },
      ...{ dependencies: rest.dependencies, peerDependencies, peerDependenciesMeta },
    },
    undefined,
    2,
  );
  const file = `${root}dist/package.json`;
  let present;
  try {
    present = readFileSync(file, "utf8");
  } catch {
    // The first build.
  }
  if (present !== text) writeFileSync(file, text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeDistPackage();
