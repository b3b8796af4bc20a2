import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** The part of a `package.json` that is read. */
export interface PackageFile {
  readonly version: string;
  readonly engines?: { readonly node?: string };
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** A package with its folder. */
export interface InstalledPackage extends PackageFile {
  readonly folder: string;
}

function packageIn(folder: string): InstalledPackage {
  // npm defines the format.
  const file = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as PackageFile;
  return { ...file, folder };
}

/** Returns the package of this program. */
export function ownPackage(): InstalledPackage {
  return packageIn(dirname(createRequire(import.meta.url).resolve("agentensemble/package.json")));
}

/**
 * Returns the package that code in `folder` would load. Returns `undefined` if it is not installed.
 */
export function installedPackage(name: string, folder: string): InstalledPackage | undefined {
  const folders = createRequire(join(folder, "package.json")).resolve.paths(name) ?? [];
  const found = folders
    .map((path) => join(path, name))
    .find((path) => existsSync(join(path, "package.json")));
  return found === undefined ? undefined : packageIn(found);
}
