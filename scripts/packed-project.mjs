// Creates projects of users: temporary folders with the installed package, as npm would publish it,
// and other packages.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Runs a program in `cwd` and returns the output of both streams.
 * @throws Error with the output if the program fails.
 */
export function output(cwd, program, args, env = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, ...env },
    maxBuffer: 1 << 28,
  });
  if (error !== undefined) throw error;
  if (status !== 0)
    throw new Error(
      `${program} ${args.join(" ")} ended with ${status}:\n${shortened(stdout + stderr)}`,
    );
  return `${stdout}${stderr}`;
}

/** Returns the end of an output, without the long lines of bundles. */
function shortened(text) {
  return text
    .split("\n")
    .map((line) => line.slice(0, 300))
    .slice(-60)
    .join("\n");
}

/** Creates a temporary folder, calls `work` with its path, then removes the folder. */
export async function inTemporaryFolder(work) {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "agentensemble-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * Creates a project with `files` in `folder`, and installs the package and `packages`. Returns the
 * packed package. Installed packages run no scripts. Needs a build.
 */
export function installPacked(folder, packages, files) {
  const all = { "package.json": '{ "private": true, "type": "module" }', ...files };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund"];
  const archive = packed(folder);
  output(folder, "npm", ["install", ...flags, archive, ...packages]);
  return archive;
}

/** Packs the package into `folder` and returns the path of the archive. Needs a build. */
export function packed(folder) {
  output(root, "npm", ["pack", "--ignore-scripts", "--pack-destination", folder]);
  const { name, version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
  return join(folder, `${name}-${version}.tgz`);
}

/** Returns the specifiers of all entry points. */
export function entryPoints() {
  const { name, exports } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
  return Object.keys(exports)
    .filter((path) => path !== "./package.json")
    .map((path) => `${name}${path.slice(1)}`);
}
