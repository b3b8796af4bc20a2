import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { rollup, type Plugin as RollupPlugin } from "@rollup/wasm-node";
import { expect } from "chai";
import { build, type Plugin } from "esbuild";
import { compilerProblems, installPackages } from "../support/compiler.js";
import { projectRoot, readProjectFile } from "../support/project.js";
import { allCases } from "../support/all-cases.js";
import { temporaryFolder } from "../support/temporary-folder.js";

interface Package {
  readonly exports: Readonly<
    Record<string, string | { readonly types: string; readonly default: string }>
  >;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const {
  exports: entries,
  peerDependencies,
  dependencies,
  devDependencies,
} = JSON.parse(readProjectFile("package.json")) as Package; // our own file
const specifiers = Object.keys(entries)
  .filter((name) => name !== "./package.json")
  .map((name) => `agentensemble${name.slice(1)}`);
// @anthropic-ai/sdk depends on the API of OpenTelemetry, so every installation has it.
const optional = Object.keys(peerDependencies).filter((name) => name !== "@opentelemetry/api");
/** Packages that are missing if only the package is installed; users of Node.js have its types. */
const missing = [...optional, ...Object.keys(devDependencies)].filter(
  (name) => !["@types/node", "@opentelemetry/api"].includes(name) && !(name in dependencies),
);
const isOptional = (specifier: string): boolean =>
  optional.some((name) => specifier === name || specifier.startsWith(`${name}/`));

/** Makes every optional package missing for the bundler. */
const withoutOptional: Plugin = {
  name: "without-optional-packages",
  setup(bundler) {
    bundler.onResolve({ filter: /^[^./]/ }, ({ path }) =>
      isOptional(path) ? { errors: [{ text: `${path} is not installed` }] } : undefined,
    );
  },
};

/** Imports every entry point, runs an ensemble, and prints its output and the number of entry points. */
const PROGRAM = `${specifiers.map((name, i) => `import * as m${i} from "${name}";`).join("\n")}
  const { Ensemble, Task } = m${specifiers.indexOf("agentensemble")};
  const task = new Task({ description: "add", handler: () => String(1 + 1) });
  const { raw } = await new Ensemble({ tasks: [task] }).run();
  console.log(raw, [${specifiers.map((_, i) => `m${i}`).join(", ")}].length);`;

/** Gives rollup the program and the files of the package. Leaves out what is installed, and finds no optional package. */
const programOfPackage: RollupPlugin = {
  name: "program-of-package",
  resolveId(specifier) {
    if (specifier === "program" || specifier.startsWith(".") || isAbsolute(specifier))
      return specifier === "program" ? specifier : null;
    const entry = entries[specifier.replace("agentensemble", ".")];
    if (typeof entry === "object") return join(projectRoot, entry.default);
    return isOptional(specifier) ? null : { id: specifier, external: true };
  },
  load: (id) => (id === "program" ? PROGRAM : null),
};

/** Problems that the compiler finds when a program imports `specifiers` and no optional package is installed. */
function typeProblems(specifiers: readonly string[]): readonly string[] {
  const folder = temporaryFolder();
  installPackages(folder, missing);
  const text = specifiers
    .map((name, i) => `import * as m${i} from "${name}"; export { m${i} };`)
    .join("\n");
  writeFileSync(join(folder, "entry-points.ts"), text);
  return compilerProblems(folder, {
    strict: true,
    skipLibCheck: false,
    preserveSymlinks: true,
    module: "NodeNext",
    moduleResolution: "NodeNext",
    target: "ES2023",
    lib: ["ES2023", "ESNext.Disposable"],
    types: ["node"],
  }).filter((problem) => !/^node_modules\/(?!agentensemble\/)/.test(problem));
}

describe("without the optional packages", function () {
  this.timeout(120_000);
  let folder: string;

  before(() => {
    folder = temporaryFolder();
  });

  it("compile the declarations of all entry points with skipLibCheck off", () => {
    expect(typeProblems(specifiers)).to.deep.equal([]);
  });

  it("do not compile a program that names such a package", () => {
    const problems = typeProblems(["agentensemble", "@ai-sdk/provider", "pg"]);
    expect(problems.map((problem) => /TS2307.*'(.+?)'/.exec(problem)?.[1])).to.deep.equal([
      "@ai-sdk/provider",
      "pg",
    ]);
  });

  it("esbuild bundles every entry point without a problem, and the bundle runs", async () => {
    const outfile = join(folder, "program.mjs");
    const { warnings } = await build({
      stdin: {
        contents: PROGRAM,
        resolveDir: projectRoot,
        loader: "js",
      },
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      logLevel: "silent",
      outfile,
      plugins: [withoutOptional],
    });
    // esbuild does not show this one for an installed package.
    expect(warnings.filter(({ id }) => id !== "ignored-bare-import")).to.deep.equal([]);
    expect(execFileSync(process.execPath, [outfile], { encoding: "utf8" }).trim()).to.equal(
      `2 ${specifiers.length}`,
    );
  });

  if (allCases)
    it("rollup bundles every entry point without a problem, and the bundle runs", async () => {
      const place = temporaryFolder();
      const warnings: string[] = [];
      const bundle = await rollup({
        input: "program",
        treeshake: false, // takes most of the time
        plugins: [programOfPackage],
        onwarn: ({ message }) => void warnings.push(message),
      });
      const { output } = await bundle.write({ dir: place, entryFileNames: "rolled.mjs" });
      await bundle.close();
      expect(warnings).to.deep.equal([]);
      expect(output[0].imports).to.not.include("agentensemble");
      symlinkSync(join(projectRoot, "node_modules"), join(place, "node_modules")); // for what is installed
      const file = join(place, "rolled.mjs");
      expect(execFileSync(process.execPath, [file], { encoding: "utf8" }).trim()).to.equal(
        `2 ${specifiers.length}`,
      );
    });

  it("report the missing package of a feature in a bundle", async () => {
    const outfile = join(folder, "toon.mjs");
    await build({
      stdin: {
        contents: `import { Ensemble, Task } from "agentensemble";
          const task = new Task({ description: "add", handler: () => "2" });
          const error = await new Ensemble({ tasks: [task], contextFormat: "TOON" }).run().catch((e) => e);
          console.log(error.message, error.hint);`,
        resolveDir: projectRoot,
        loader: "js",
      },
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "silent",
      outfile,
      plugins: [withoutOptional],
    });
    writeFileSync(join(folder, "package.json"), "{}");
    expect(
      execFileSync(process.execPath, [outfile], { cwd: folder, encoding: "utf8" }).trim(),
    ).to.equal(
      "TOON context format requires the package @toon-format/toon, which is not installed. Run: npm install @toon-format/toon",
    );
  });
});
