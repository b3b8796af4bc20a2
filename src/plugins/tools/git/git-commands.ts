/** What one git command accepts. Anything not listed here is rejected. */
export interface GitCommand {
  /**
   * `--name` takes no value, `--name=` requires one, `--name[=]` may have one. `-1` stands for any
   * number.
   */
  readonly options: ReadonlySet<string>;
  /** Options that are always passed. */
  readonly fixed: readonly string[];
  /** Kind of the operands: names (revisions, branches, remotes) or paths. */
  readonly operands: "names" | "paths";
  /** Whether `--` and paths may follow. */
  readonly paths: boolean;
  /** Whether a `message` is accepted. */
  readonly message: boolean;
  /**
   * Whether the command is read-only. A list means: read-only if only these options are given.
   * Operands then also need `--list` or `-l`.
   */
  readonly reads: boolean | readonly string[];
  /** Whether it connects to another machine. */
  readonly remote: boolean;
}

function words(...lists: readonly string[]): readonly string[] {
  return lists.flatMap((list) => list.split(" "));
}

function command(
  options: readonly string[],
  rest: Partial<Omit<GitCommand, "options">>,
): GitCommand {
  const {
    fixed = [],
    operands = "names",
    paths = false,
    message = false,
    reads = false,
    remote = false,
  } = rest;
  // models send the option as often as the argument
  const known = message ? [...options, "-m=", "--message="] : options;
  return Object.freeze({ options: new Set(known), fixed, operands, paths, message, reads, remote });
}

/**
 * Turns off programs that render files, and the inspection of submodules, which have their own
 * configuration.
 */
const PLAIN_DIFF = words("--no-ext-diff --no-textconv --no-color");
const FEW_SUBMODULES = ["--ignore-submodules=dirty"];

const DIFF = words(
  "-p --patch -s --no-patch --stat --shortstat --numstat --summary --name-only --name-status --check -U= --unified= -W --function-context",
  "-w --ignore-all-space -b --ignore-space-change --ignore-space-at-eol --ignore-blank-lines --word-diff --minimal --patience --histogram",
  "-M --find-renames -C --find-copies --no-renames --diff-filter= -S= -G= --pickaxe-regex -R --full-index --abbrev --raw",
);
const LOG = words(
  "-n= --max-count= -1 --skip= --oneline --graph --decorate --no-decorate --all --branches --tags --remotes --author= --committer= --grep= -i",
  "--regexp-ignore-case --all-match --invert-grep -F --fixed-strings --since= --after= --until= --before= --merges --no-merges --first-parent --reverse",
  "--follow --format= --pretty= --abbrev-commit --no-abbrev-commit --date= --date-order --topo-order --author-date-order --left-right --cherry-pick",
  "--cherry-mark --left-only --right-only --ancestry-path --no-walk --boundary --simplify-merges --full-history -m -c --cc",
);
const LIST_BRANCHES = words(
  "--list -l -a --all -r --remotes -v --verbose --show-current --contains= --no-contains= --merged[=] --no-merged[=] --sort=",
);
const LIST_TAGS = words(
  "--list -l -n --contains= --no-contains= --merged[=] --no-merged[=] --points-at= --sort=",
);
const MERGE = words(
  "--no-ff --ff-only --ff --squash --no-squash --no-commit --commit --no-edit --autostash --no-autostash --stat --no-stat -X=",
);
const FETCH = words(
  "--all -p --prune -t --tags --no-tags --depth= --deepen= --unshallow --shallow-since= --dry-run -f --force -q --quiet -v --verbose",
);

const NEEDS_NO_OPERAND = words("-q --quiet --index");

/** The commands by name. `stash` commands include the subcommand. */
export const GIT_COMMANDS: ReadonlyMap<string, GitCommand> = new Map([
  [
    "status",
    command(
      words(
        "-s --short -b --branch --show-stash --porcelain[=] --long -u[=] --untracked-files[=] --ignored[=] --ahead-behind --no-ahead-behind",
      ),
      {
        fixed: FEW_SUBMODULES,
        operands: "paths",
        paths: true,
        reads: true,
      },
    ),
  ],
  [
    "diff",
    command([...DIFF, ...words("--cached --staged --merge-base")], {
      fixed: [...PLAIN_DIFF, ...FEW_SUBMODULES],
      paths: true,
      reads: true,
    }),
  ],
  ["log", command([...DIFF, ...LOG], { fixed: PLAIN_DIFF, paths: true, reads: true })],
  ["show", command([...DIFF, ...LOG], { fixed: PLAIN_DIFF, paths: true, reads: true })],
  [
    "branch",
    command(
      [
        ...LIST_BRANCHES,
        ...words(
          "-d --delete -D -m --move -M -c --copy -C -f --force -u= --set-upstream-to= --unset-upstream -t --track --no-track -q --quiet",
        ),
      ],
      { fixed: ["--no-color"], reads: LIST_BRANCHES },
    ),
  ],
  [
    "tag",
    command([...LIST_TAGS, ...words("-a --annotate -d --delete -f --force")], {
      message: true,
      reads: LIST_TAGS,
    }),
  ],
  ["stash list", command(LOG, { reads: true })],
  ["stash show", command(DIFF, { fixed: PLAIN_DIFF, reads: true })],
  [
    "stash push",
    command(
      words(
        "-u --include-untracked -a --all -k --keep-index --no-keep-index -S --staged -q --quiet",
      ),
      { operands: "paths", paths: true, message: true },
    ),
  ],
  ["stash pop", command(NEEDS_NO_OPERAND, {})],
  ["stash apply", command(NEEDS_NO_OPERAND, {})],
  ["stash drop", command(words("-q --quiet"), {})],
  ["stash clear", command([], {})],
  ["stash branch", command([], {})],
  [
    "add",
    command(
      words(
        "-A --all --no-all -u --update -n --dry-run -N --intent-to-add -v --verbose -f --force --ignore-errors --renormalize --refresh",
      ),
      {
        operands: "paths",
        paths: true,
      },
    ),
  ],
  [
    "commit",
    command(
      words(
        "-a --all --amend --no-edit --allow-empty --author= --date= -s --signoff --no-signoff --fixup= -n --no-verify -q --quiet -i --include -o --only --reset-author --dry-run --short",
      ),
      { operands: "paths", paths: true, message: true },
    ),
  ],
  [
    "checkout",
    command(
      words(
        "-b= -B= --orphan= -t --track --no-track -f --force -q --quiet -d --detach --ours --theirs -m --merge --guess --no-guess",
      ),
      { paths: true },
    ),
  ],
  [
    "reset",
    command(words("--soft --mixed --hard --merge --keep -q --quiet -N --intent-to-add"), {
      paths: true,
    }),
  ],
  [
    "rebase",
    command(
      words(
        "--onto= --continue --abort --skip --quit --autostash --no-autostash --no-ff -f --force-rebase --keep-base --root --update-refs -X= -q --quiet -v --verbose",
      ),
      {},
    ),
  ],
  [
    "merge",
    command(
      [...MERGE, ...words("--abort --continue --quit --allow-unrelated-histories -q --quiet")],
      { message: true },
    ),
  ],
  [
    "clean",
    command(words("-n --dry-run -f --force -d -x -X -q --quiet -e= --exclude="), {
      operands: "paths",
      paths: true,
    }),
  ],
  [
    "fetch",
    command([...FETCH, "--prune-tags", "--atomic"], {
      fixed: ["--no-recurse-submodules"],
      remote: true,
    }),
  ],
  [
    "pull",
    command(
      [...MERGE, ...FETCH, ...words("-r --rebase[=] --no-rebase --allow-unrelated-histories")],
      { fixed: ["--no-recurse-submodules"], remote: true },
    ),
  ],
  [
    "push",
    command(
      words(
        "-u --set-upstream --all --tags --follow-tags --prune -d --delete -f --force --force-with-lease[=] --no-force-with-lease --force-if-includes --atomic -n --dry-run -q --quiet -v --verbose --no-verify --porcelain",
      ),
      { fixed: ["--no-recurse-submodules"], remote: true },
    ),
  ],
]);

/** The names that a model may use. */
export const GIT_COMMAND_NAMES: readonly string[] = Object.freeze(
  [...new Set([...GIT_COMMANDS.keys()].map((name) => name.replace(/ .*/, "")))].sort(),
);
