import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { projectRoot, readProjectFile } from "../support/project.js";

const asModule = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;

// Runs on the loader's thread: writes the address of every module that is loaded.
const listingLoader = `
  import { writeSync } from "node:fs";
  export async function load(url, context, next) { writeSync(1, url + "\\n"); return next(url, context); }`;
const withListing = `import { register } from "node:module"; register(${JSON.stringify(asModule(listingLoader))});`;

/** Addresses of all files that importing `specifier` loads in a process of its own. */
function filesLoadedBy(specifier: string): readonly string[] {
  const program = `
    import { createRequire } from "node:module";
    await import(${JSON.stringify(specifier)});
    for (const file of Object.keys(createRequire(import.meta.url).cache)) console.log(file);`;
  const options = ["--import", asModule(withListing), "--input-type=module", "--eval", program];
  const output = execFileSync(process.execPath, options, {
    cwd: projectRoot,
    encoding: "utf8",
    stdio: "pipe",
  });
  return output.split("\n").filter((line) => line !== "");
}

/** Names of the installed packages among `files`. */
function packagesOf(files: readonly string[]): readonly string[] {
  const names = files.map(
    (file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file.replaceAll("\\", "/"))?.[1],
  );
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

interface Lockfile {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly dev?: boolean;
        readonly optional?: boolean;
        readonly peer?: boolean;
        readonly devOptional?: boolean;
      }
    >
  >;
}

describe("importing", () => {
  const { exports: entryPoints } = JSON.parse(readProjectFile("package.json")) as {
    readonly exports: Readonly<Record<string, { readonly default?: string }>>;
  }; // our own file

  for (const entryPoint of Object.keys(entryPoints).filter((name) => name !== "./package.json")) {
    const specifier = `agentensemble${entryPoint.slice(1)}`;
    it(`${specifier} loads no package: the container and the hooks are bundled, the rest waits until it is needed`, function () {
      this.timeout(30_000);
      const files = filesLoadedBy(specifier);
      expect(
        files.some((file) => file.endsWith(entryPoints[entryPoint]?.default?.slice(1) ?? "?")),
      ).to.equal(true);
      expect(packagesOf(files)).to.deep.equal([]);
    });
  }

  it("is watched by a loader that sees packages, imported and required ones", function () {
    this.timeout(30_000);
    expect(packagesOf(filesLoadedBy("tapable"))).to.deep.equal(["tapable"]);
    expect(packagesOf(filesLoadedBy("inversify"))).to.include.members([
      "inversify",
      "@inversifyjs/core",
    ]);
  });
});

describe("installing", () => {
  it("brings fewer than 60 packages", () => {
    const { packages } = JSON.parse(readProjectFile("package-lock.json")) as Lockfile; // npm's own format
    const installed = Object.entries(packages).filter(
      ([path, p]) =>
        path !== "" &&
        p.dev !== true &&
        p.optional !== true &&
        p.peer !== true &&
        p.devOptional !== true,
    );
    expect(installed.length).to.be.greaterThan(0).and.lessThan(60);
  });
});
