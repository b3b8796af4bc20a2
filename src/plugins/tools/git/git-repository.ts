import { lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";

/** A working tree and where its repository was when the tool was made. */
export interface GitRepository {
  /** Real path of the working tree. */
  readonly baseDir: string;
  readonly gitDir: string;
}

/** Names of settings that make git run a program which none of the fixed settings turns off. Those of the user and the system are trusted. */
const PROGRAMS =
  /^(?:filter\..+\.(?:clean|smudge|process)|diff\.external|diff\..+\.(?:command|textconv)|merge\..+\.driver|gpg\.(?:.+\.)?program|gpg\.ssh\.defaultkeycommand|core\.alternaterefscommand|trailer\..+\.(?:command|cmd)|hook\..+\.command)$/;
const REMOTE_PROGRAMS =
  /^(?:core\.(?:sshcommand|gitproxy)|credential\.(?:.+\.)?helper|remote\..+\.(?:uploadpack|receivepack|vcs))$/;
/**
 * Names of settings that include other files. A condition such as `onbranch` can be false while the
 * configuration is listed, and true for a process that git starts during the call.
 */
const INCLUDES = /^include(?:if\..+)?\.path$/;
/** Lines of a rebase's list that run a command. */
const EXEC_LINE = /^\s*(?:x|exec)\s/m;

/**
 * Looks where the repository of a working tree is, once: a workspace whose agent writes files could later point elsewhere.
 * @throws ValidationError unless `baseDir` is a folder.
 */
export function findRepository(baseDir: string): GitRepository {
  if (statSync(baseDir, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new ValidationError(`baseDir must be an existing directory: ${preview(baseDir)}`);
  const root = realpathSync(baseDir);
  const entry = join(root, ".git");
  const found = lstatSync(entry, { throwIfNoEntry: false });
  if (found?.isSymbolicLink() === true) return { baseDir: root, gitDir: realpathSync(entry) };
  const target =
    found?.isFile() === true ? /^gitdir: (.+)$/m.exec(readFileSync(entry, "utf8"))?.[1] : undefined; // a linked working tree
  return { baseDir: root, gitDir: target === undefined ? entry : resolve(root, target.trim()) };
}

/** Whether there is a repository now, and not a link to another place. */
export async function hasRepository({ gitDir }: GitRepository): Promise<boolean> {
  return (await lstat(gitDir).catch(() => undefined))?.isDirectory() === true;
}

/** The output of `git config --list --show-scope --name-only -z`: the names the repository's own files set that run programs or include files which may. */
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

/** Whether a rebase that is under way would run a command: none begun by this tool does. */
export async function rebaseRunsCommands({ gitDir }: GitRepository): Promise<boolean> {
  const list = await readFile(join(gitDir, "rebase-merge", "git-rebase-todo"), "utf8").catch(
    () => "",
  );
  return EXEC_LINE.test(list);
}
