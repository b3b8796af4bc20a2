import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "./project.js";

const COMPILER = join(projectRoot, "node_modules/@typescript/native/bin/tsc");

/**
 * Installs the package and all packages of the project in `folder`, except those in `missing`. The
 * package finds only these packages if the compiler preserves symbolic links.
 */
export function installPackages(folder: string, missing: readonly string[] = []): void {
  const modules = join(projectRoot, "node_modules");
  const names = readdirSync(modules)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) =>
      name.startsWith("@")
        ? readdirSync(join(modules, name)).map((part) => `${name}/${part}`)
        : [name],
    );
  const link = (target: string, name: string): void => {
    const path = join(folder, "node_modules", name);
    mkdirSync(join(path, ".."), { recursive: true });
    symlinkSync(target, path);
  };
  for (const name of names)
    if (name !== "agentensemble" && !missing.includes(name)) link(join(modules, name), name);
  for (const part of ["package.json", "dist"])
    link(join(projectRoot, part), `agentensemble/${part}`);
}

/**
 * Returns the compiler's problems with the files of `folder`, one text each: `path(line,column):
 * error TS1234: message`.
 */
export function compilerProblems(
  folder: string,
  compilerOptions: Readonly<Record<string, unknown>>,
): readonly string[] {
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const include = ["*.ts"];
  const config = { compilerOptions: { ...compilerOptions, noEmit: true }, include };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const args = [COMPILER, "-p", folder, "--pretty", "false"];
  const { status, stdout, stderr, error } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error !== undefined) throw error;
  const problems = stdout.split(/\n(?=\S)/).filter((line) => line.trim() !== "");
  if (problems.length === 0 && status !== 0)
    throw new Error(`The compiler ended with ${status}: ${stderr}`);
  return problems.map((line) => line.trim());
}
