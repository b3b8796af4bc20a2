import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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

/** The parts of the bundle that contain the packages for server-sent events, line diffs and CSV. */
const LOADED_LATER = /\/(server-sent-events|line-diff|csv-vendor)-[^/]*\.js$/;

/** Names of the packages that a compiled file imports. */
function importedBy(file: string): readonly string[] {
  const imports = readFileSync(file, "utf8").matchAll(
    /\b(?:from|import)\s*\(?\s*"(@[\w-]+\/[\w.-]+|[\w-][\w.-]*)(?:\/[\w./-]*)?"/g,
  );
  return [...imports].map(([, name = ""]) => name);
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
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
        readonly link?: boolean;
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
    it(`${specifier} loads no package: the container and the hooks are bundled, the rest waits until it is needed`, () => {
      const files = filesLoadedBy(specifier);
      expect(
        files.some((file) => file.endsWith(entryPoints[entryPoint]?.default?.slice(1) ?? "?")),
      ).to.equal(true);
      expect(packagesOf(files)).to.deep.equal([]);
      expect(files.filter((file) => LOADED_LATER.test(file))).to.deep.equal([]);
    });
  }

  it("finds the parts with bundled packages that are loaded at their first use", () => {
    const parts = readdirSync(join(projectRoot, "dist/bundle/shared"));
    expect(parts.filter((file) => LOADED_LATER.test(`/${file}`)).length).to.equal(3);
  });

  it("is watched by a loader that sees packages, imported and required ones", () => {
    expect(packagesOf(filesLoadedBy("tapable"))).to.deep.equal(["tapable"]);
    expect(packagesOf(filesLoadedBy("inversify"))).to.include.members([
      "inversify",
      "@inversifyjs/core",
    ]);
  });
});

describe("installing", () => {
  it("brings every package that a published file imports", () => {
    const manifest = JSON.parse(readProjectFile("package.json")) as Manifest; // our own file
    const installed = { ...manifest.dependencies, ...manifest.peerDependencies };
    const missing = ["dist/bundle", "dist/src"].flatMap((folder) =>
      readdirSync(join(projectRoot, folder), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".js"))
        .flatMap((file) =>
          importedBy(join(projectRoot, folder, file))
            .filter((name) => !Object.hasOwn(installed, name))
            .map((name) => `${folder}/${file}: ${name}`),
        ),
    );
    expect(missing).to.deep.equal([]);
    expect(importedBy(join(projectRoot, "dist/test/architecture/loading.test.js"))).to.include(
      "chai",
    );
  });

  it("brings fewer than 60 packages", () => {
    const { packages } = JSON.parse(readProjectFile("package-lock.json")) as Lockfile; // npm's own format
    const installed = Object.entries(packages).filter(
      ([path, p]) =>
        path.startsWith("node_modules/") &&
        p.link !== true &&
        p.dev !== true &&
        p.optional !== true &&
        p.peer !== true &&
        p.devOptional !== true,
    );
    expect(installed.length).to.be.greaterThan(0).and.lessThan(60);
  });
});
