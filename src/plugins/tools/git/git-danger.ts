import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { CommandResult } from "../shared/run-command.js";
import type { GitRepository } from "./git-repository.js";
import { isInclude, programSettings } from "./git-repository.js";

/** Runs git in a repository: the one of the working tree, or one of a submodule. */
export type RunGit = (
  repository: GitRepository,
  args: readonly string[],
  maxOutputBytes: number,
) => Promise<CommandResult>;

/** The properties of a call that determine which settings are dangerous. */
export interface Exposure {
  /** Whether it connects to another machine. */
  readonly remote: boolean;
  /** Whether git may look for changes in submodules, where their own configuration applies. */
  readonly submodules: boolean;
  /** Whether a setting is allowed to name a program. */
  readonly isTrusted: (name: string) => boolean;
}

/** Maximum size of a configuration and of the file list. A larger one is rejected. */
const CONFIG_BYTES = 1_048_576;
const INDEX_BYTES = 67_108_864;
/** Maximum number of repositories, submodules included. */
const MOST_REPOSITORIES = 100;
/** A submodule in the file list. */
const SUBMODULE = /^160000 [^\t]*\t([^]+)$/;

/**
 * Returns the submodules that are checked out.
 * @throws the errors of `runGit`
 */
async function submodulesOf(
  repository: GitRepository,
  runGit: RunGit,
): Promise<readonly GitRepository[] | undefined> {
  const { exitCode, truncated, stdout } = await runGit(
    repository,
    ["ls-files", "--stage", "--abbrev=4", "-z"],
    INDEX_BYTES,
  );
  if (exitCode !== 0 || truncated) return undefined;
  const paths = stdout.split("\0").flatMap((line) => SUBMODULE.exec(line)?.[1] ?? []);
  const found = paths.map((path) => ({
    baseDir: join(repository.baseDir, path),
    gitDir: join(repository.baseDir, path, ".git"),
  }));
  const areThere = await Promise.all(
    found.map(({ gitDir }) =>
      lstat(gitDir).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.filter((_, i) => areThere[i] === true);
}

/**
 * Returns why git would run a program that the repository configures, or `undefined` if it would
 * not.
 */
export async function dangerIn(
  top: GitRepository,
  { remote, submodules, isTrusted }: Exposure,
  runGit: RunGit,
): Promise<string | undefined> {
  const repositories = [top];
  for (const repository of repositories) {
    const where = repository === top ? "The repository's" : "A submodule's";
    const listing = await runGit(
      repository,
      ["config", "--list", "--show-scope", "--name-only", "-z"],
      CONFIG_BYTES,
    );
    if (listing.exitCode !== 0 || listing.truncated)
      return `${where} configuration cannot be read: ${listing.stderr.trim().slice(0, 500)}`;
    const names = programSettings(listing.stdout, remote).filter((name) => !isTrusted(name));
    if (names.length > 0) {
      const does = names.every(isInclude)
        ? "includes files that may name programs"
        : "names programs that git would run";
      return `Refused: ${where.toLowerCase()} own configuration ${does} (${names.slice(0, 10).join(", ")})`;
    }
    const inner = submodules ? await submodulesOf(repository, runGit) : [];
    if (inner === undefined) return `Refused: ${where.toLowerCase()} list of files cannot be read`;
    repositories.push(...inner);
    if (repositories.length > MOST_REPOSITORIES)
      return `Refused: there are more than ${MOST_REPOSITORIES} submodules`;
  }
  return undefined;
}
