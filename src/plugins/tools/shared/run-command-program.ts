import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { cannotStart } from "./run-command-options.js";

/** Folders for programs if the command's environment has no PATH. */
const FALLBACK_PATH = "/usr/local/bin:/usr/bin:/bin";

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false; // the caller reports the problem
  }
}

/**
 * Checks the working directory. Without this check a missing folder looks like a missing program.
 * @throws CommandError unless `cwd` is a folder
 */
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
 * Returns the path of the program that a command names. Ignores relative folders in PATH. Otherwise
 * a file in the working directory could replace any program, and an agent may control that
 * directory.
 * @throws CommandError if there is none
 */
export async function findProgram(
  file: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  if (process.platform === "win32") return file; // the system adds the extensions
  if (file.includes("/")) return atPath(file, cwd);
  for (const folder of (env["PATH"] ?? FALLBACK_PATH).split(delimiter)) {
    const path = join(folder, file);
    if (isAbsolute(folder) && (await isProgram(path))) return path;
  }
  throw cannotStart(file, "no such program in PATH");
}
