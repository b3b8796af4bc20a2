import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { cannotStart } from "./run-command-options.js";

/** Where programs are looked for when the command's environment has no PATH. */
const FALLBACK_PATH = "/usr/local/bin:/usr/bin:/bin";

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false; // what is wrong with it is said by who asked
  }
}

/** @throws CommandError unless `cwd` is a folder. Without this check a missing folder looks like a missing program. */
export async function checkFolder(file: string, cwd: string): Promise<void> {
  const found = await stat(cwd).catch(() => undefined);
  if (found?.isDirectory() !== true)
    throw cannotStart(file, `its working directory '${cwd}' is not a directory`);
}

async function atPath(file: string, cwd: string): Promise<string> {
  const path = resolve(cwd, file);
  if (await isProgram(path)) return path;
  const found = await stat(path).catch(() => undefined);
  throw cannotStart(
    file,
    found === undefined ? "there is no such file" : "it is not an executable file",
  );
}

/**
 * The program a command names. Relative folders in PATH are passed over: with them a file in the working directory, which may be an agent's,
 * could take the place of any program.
 * @throws CommandError when there is none.
 */
export async function findProgram(
  file: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  if (process.platform === "win32") return file; // the system knows the endings
  if (file.includes("/")) return atPath(file, cwd);
  for (const folder of (env["PATH"] ?? FALLBACK_PATH).split(delimiter)) {
    const path = join(folder, file);
    if (isAbsolute(folder) && (await isProgram(path))) return path;
  }
  throw cannotStart(file, "no such program in PATH");
}
