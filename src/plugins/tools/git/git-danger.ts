import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { CommandResult } from "../shared/run-command.js";
import type { GitRepository } from "./git-repository.js";
import { isInclude, programSettings } from "./git-repository.js";

/** Runs git in a repository: that of the working tree, or a submodule's. */
export type RunGit = (
  repository: GitRepository,
  args: readonly string[],
  maxOutputBytes: number,
) => Promise<CommandResult>;

/** What a call does, as far as it matters to what may be dangerous. */
export interface Exposure {
  /** Whether it reaches another machine. */
  readonly remote: boolean;
  /** Whether git may look for changes within submodules, where it follows their own configuration. */
  readonly submodules: boolean;
  /** Whether a setting may name a program. */
  readonly isTrusted: (name: string) => boolean;
}

/** How much of a configuration is read, and of the list of all files; what is longer is refused. */
const CONFIG_BYTES = 1_048_576;
const INDEX_BYTES = 67_108_864;
/** Submodules within each other. */
const MOST_REPOSITORIES = 100;
/** A submodule in the list of all files. */
const SUBMODULE = /^160000 [^\t]*\t([^]+)$/;

/** The submodules that are there. @throws what `runGit` throws */
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

/** Says why git would run a program that a repository itself names; `undefined` when it would not. */
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
