import { lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";

/** A working tree and the location of its repository when the tool was created. */
export interface GitRepository {
  /** Real path of the working tree. */
  readonly baseDir: string;
  readonly gitDir: string;
}

/**
 * Names of repository settings that make git run a program and that the fixed settings can't turn
 * off. User and system settings are trusted.
 */
const PROGRAMS =
  /^(?:filter\..+\.(?:clean|smudge|process)|diff\.external|diff\..+\.(?:command|textconv)|merge\..+\.driver|gpg\.(?:.+\.)?program|gpg\.ssh\.defaultkeycommand|core\.alternaterefscommand|trailer\..+\.(?:command|cmd)|hook\..+\.command)$/;
const REMOTE_PROGRAMS =
  /^(?:core\.(?:sshcommand|gitproxy)|credential\.(?:.+\.)?helper|remote\..+\.(?:uploadpack|receivepack|vcs))$/;
/**
 * Names of settings that include other files. Their conditions, such as `onbranch`, can change. A
 * condition may be false while the configuration is listed, and true for a later git process.
 */
const INCLUDES = /^include(?:if\..+)?\.path$/;
/** Lines of a rebase's todo list that run a command. */
const EXEC_LINE = /^\s*(?:x|exec)\s/m;

/**
 * Locates the repository of a working tree once. An agent that writes files in the workspace could
 * later change the location.
 * @throws ValidationError unless `baseDir` is a folder
 */
export function findRepository(baseDir: string): GitRepository {
  if (statSync(baseDir, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new ValidationError(`baseDir must be an existing directory: ${preview(baseDir)}`);
  const root = realpathSync(baseDir);
  const entry = join(root, ".git");
  const found = lstatSync(entry, { throwIfNoEntry: false });
  if (found?.isSymbolicLink() === true) return { baseDir: root, gitDir: realpathSync(entry) };
  const target =
    // a linked working tree
    found?.isFile() === true ? /^gitdir: (.+)$/m.exec(readFileSync(entry, "utf8"))?.[1] : undefined;
  return { baseDir: root, gitDir: target === undefined ? entry : resolve(root, target.trim()) };
}

/** Whether a repository exists now and is not a link to another location. */
export async function hasRepository({ gitDir }: GitRepository): Promise<boolean> {
  return (await lstat(gitDir).catch(() => undefined))?.isDirectory() === true;
}

/**
 * Parses the output of `git config --list --show-scope --name-only -z`. Returns the repository's
 * settings that run programs, or that include files which may do so.
 */
export function programSettings(listing: string, remote: boolean): readonly string[] {
  const parts = listing.split("\0");
  const names: string[] = [];
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const [scope = "", name = ""] = parts.slice(i, i + 2);
    if (scope !== "local" && scope !== "worktree") continue;
    const key = name.toLowerCase();
    if (PROGRAMS.test(key) || isInclude(key) || (remote && REMOTE_PROGRAMS.test(key)))
      names.push(key);
  }
  return [...new Set(names)];
}

/** Whether a setting includes another file. */
export function isInclude(key: string): boolean {
  return INCLUDES.test(key);
}

/** Whether a rebase in progress would run a command. Rebases started by this tool never do. */
export async function rebaseRunsCommands({ gitDir }: GitRepository): Promise<boolean> {
  const list = await readFile(join(gitDir, "rebase-merge", "git-rebase-todo"), "utf8").catch(
    () => "",
  );
  return EXEC_LINE.test(list);
}
