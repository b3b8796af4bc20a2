import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { projectRoot, readProjectFile } from "../support/project.js";

const asModule = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;

// Runs on the loader's thread. `copy-3:x` is the module `x` in its third copy: the module and its
// imports are loaded again. Writes the URL of every loaded module.
const listingLoader = `
  import { writeSync } from "node:fs";
  const copyOf = (address) => /[?&]copy=(\\d+)$/.exec(address ?? "")?.[1];
  export async function resolve(specifier, context, next) {
    const [, asked, name = specifier] = /^copy-(\\d+):(.*)$/.exec(specifier) ?? [];
    const copy = asked ?? copyOf(context.parentURL);
    const found = await next(name, context);
    return copy && found.url.startsWith("file:") ? { ...found, url: found.url + "?copy=" + copy } : found;
  }
  export async function load(url, context, next) {
    if (copyOf(url)) writeSync(1, url + "\\n");
    return next(url, context);
  }`;
const withListing = `import { register } from "node:module"; register(${JSON.stringify(asModule(listingLoader))});`;

/**
 * URLs of all files that importing each of `specifiers` loads, in a process without any of them.
 */
function filesLoadedBy(specifiers: readonly string[]): readonly (readonly string[])[] {
  const program = `
    import { createRequire } from "node:module";
    const { cache } = createRequire(import.meta.url);
    for (const [copy, specifier] of ${JSON.stringify(specifiers)}.entries()) {
      await import("copy-" + copy + ":" + specifier);
      for (const file of Object.keys(cache)) {
        console.log(file + "?copy=" + copy);
        delete cache[file];
      }
    }`;
  const options = ["--import", asModule(withListing), "--input-type=module", "--eval", program];
  const output = execFileSync(process.execPath, options, {
    cwd: projectRoot,
    encoding: "utf8",
    stdio: "pipe",
  });
  const lines = output.split("\n").map((line) => line.split("?copy="));
  return specifiers.map((_, copy) =>
    lines.flatMap(([file = "", of]) => (of === String(copy) ? [file] : [])),
  );
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

  const names = Object.keys(entryPoints).filter((name) => name !== "./package.json");
  const specifierOf = (name: string): string => `agentensemble${name.slice(1)}`;
  let loaded: readonly (readonly string[])[] = [];
  before(function () {
    this.timeout(240_000); // a busy machine may take long
    loaded = filesLoadedBy(names.map(specifierOf));
  });

  for (const [index, entryPoint] of names.entries()) {
    it(`${specifierOf(entryPoint)} imports only bundled packages, and loads other packages when they are needed`, () => {
      const files = loaded[index] ?? [];
      expect(
        files.some((file) => file.endsWith(entryPoints[entryPoint]?.default?.slice(1) ?? "?")),
      ).to.equal(true);
      expect(packagesOf(files)).to.deep.equal([]);
      expect(files.filter((file) => LOADED_LATER.test(file))).to.deep.equal([]);
    });
  }

  it("finds the modules with bundled packages that are loaded at their first use", () => {
    const parts = readdirSync(join(projectRoot, "dist/bundle/shared"));
    expect(parts.filter((file) => LOADED_LATER.test(`/${file}`)).length).to.equal(3);
  });

  it("is observed by a loader that detects imported and required packages", () => {
    const listed = filesLoadedBy(["tapable", "inversify", "tapable"]).map(packagesOf);
    expect(listed[0]).to.deep.equal(["tapable"]);
    expect(listed[1]).to.include.members(["inversify", "@inversifyjs/core"]);
    expect(listed[2], "in a second copy").to.deep.equal(["tapable"]);
  });
});

describe("installing", () => {
  it("provides every package that a published file imports", () => {
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

  it("provides fewer than 60 packages", () => {
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
