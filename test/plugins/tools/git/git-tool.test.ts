import { expect } from "chai";
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { toolContract } from "agentensemble/testing";
import { ToolConfigurationError, ValidationError } from "../../../../src/contracts/errors.js";
import type { Tool, ToolContext } from "../../../../src/contracts/tool.js";
import { ToolResult } from "../../../../src/contracts/tool-result.js";
import type { GitRequest, GitToolOptions } from "../../../../src/plugins/tools/git/index.js";
import { gitTool } from "../../../../src/plugins/tools/git/index.js";
import { rejectionOf } from "../../../support/rejection.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { setEnvironment } from "../../../support/environment.js";

const IDENTITY = {
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.test",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.test",
};
const env = { ...IDENTITY, GIT_CONFIG_GLOBAL: "/dev/null" };

let parent: string;
let dir: string;

function git(...args: readonly string[]): string {
  return execFileSync("git", ["-C", dir, ...args], {
    env: { ...process.env, ...env },
    encoding: "utf8",
    stdio: "pipe",
  });
}

function write(file: string, text: string, mode = 0o644): void {
  writeFileSync(join(dir, file), text, { mode });
}

/**
 * A folder with a repository of one commit: file a.txt. It is copied for each test, which is faster
 * than its creation.
 */
let model: string;

before(() => {
  model = temporaryFolder();
  dir = join(model, "work");
  mkdirSync(dir);
  git("init", "-q", "-b", "main", "--template=");
  mkdirSync(join(dir, ".git/hooks"));
  write("a.txt", "one\n");
  git("add", ".");
  git("commit", "-q", "-m", "First");
});

function copyRepository(): void {
  parent = temporaryFolder();
  dir = join(parent, "work");
  cpSync(model, parent, { recursive: true });
}

const newTool = (options: Partial<GitToolOptions> = {}): Tool<GitRequest> =>
  gitTool({ baseDir: dir, env, ...options });

async function call(input: unknown, tool = newTool()): Promise<ToolResult> {
  const context = { signal: new AbortController().signal } as ToolContext; // what this tool uses of it
  const result = await tool.execute(input as GitRequest, context); // also what does not fit
  if (!ToolResult.isInstance(result)) throw new Error("no ToolResult");
  return result;
}

async function succeed(input: GitRequest, tool = newTool()): Promise<string> {
  const { ok, output, errorMessage } = await call(input, tool);
  if (!ok) throw new Error(errorMessage);
  return output;
}

async function fail(input: unknown, tool = newTool()): Promise<string> {
  const result = await call(input, tool);
  if (result.ok) throw new Error(`succeeded: ${result.output}`);
  return result.errorMessage ?? "";
}

beforeEach(copyRepository);

toolContract("gitTool", {
  create: () => newTool(),
  valid: [
    { command: "status" },
    { command: "log", args: ["-1"] },
    { command: "diff", paths: ["a.txt"] },
  ],
  invalid: [
    {},
    null,
    { command: 1 },
    { command: "log", args: "--oneline" },
    { command: "log", cwd: "/" },
    { command: "log", args: [1] },
  ],
  failing: [{ command: "log", args: ["no-such-branch"] }, { command: "worktree" }],
});

describe("gitTool", () => {
  it("completes the usual work of a day", async () => {
    write("b.txt", "two\n");
    expect(await succeed({ command: "status", args: ["-s"] })).to.equal("?? b.txt");
    expect(await succeed({ command: "add", paths: ["b.txt"] })).to.equal(
      "git add completed successfully",
    );
    await succeed({ command: "commit", message: "-m is no option here\n\nSecond line; $(id)" });
    expect(await succeed({ command: "log", args: ["-n", "1", "--format=%B"] })).to.equal(
      "-m is no option here\n\nSecond line; $(id)",
    );
    expect(await succeed({ command: "checkout", args: ["-b", "fix"] })).to.contain("fix");
    write("a.txt", "three\n");
    expect(await succeed({ command: "diff", args: ["--stat"] })).to.contain("a.txt");
    await succeed({ command: "commit", args: ["-am", "Third"] });
    await succeed({ command: "checkout", args: ["main"] });
    await succeed({ command: "merge", args: ["--no-ff", "fix"], message: "Merge it" });
    expect(
      await succeed({ command: "log", args: ["--oneline", "--first-parent", "-3", "--format=%s"] }),
    ).to.match(/^Merge it\n/);
    expect(await succeed({ command: "branch", args: ["-d", "fix"] })).to.contain(
      "Deleted branch fix",
    );
    await succeed({ command: "tag", args: ["v1"], message: "One" });
    expect(await succeed({ command: "tag" })).to.equal("v1");
    write("a.txt", "four\n");
    await succeed({ command: "stash", message: "later" });
    expect(await succeed({ command: "stash", args: ["list"] })).to.contain("later");
    expect(await succeed({ command: "stash", args: ["show", "-p"] })).to.contain("+four");
    await succeed({ command: "stash", args: ["pop"] });
    await succeed({ command: "checkout", paths: ["a.txt"] });
    expect(readFileSync(join(dir, "a.txt"), "utf8")).to.equal("three\n");
    await succeed({ command: "reset", args: ["--hard", "HEAD~1"] });
    expect(await succeed({ command: "show", args: ["HEAD:a.txt"] })).to.equal("one");
    await succeed({ command: "checkout", args: ["-b", "side", "HEAD~1"] });
    write("c.txt", "c\n");
    await succeed({ command: "add", args: ["-A"] });
    await succeed({ command: "commit", message: "Side" });
    await succeed({ command: "rebase", args: ["main"] });
    expect(git("log", "-1", "--format=%s", "HEAD~1").trim()).to.not.equal("Side");
    write("junk", "");
    expect(await succeed({ command: "clean", args: ["-n"] })).to.contain("junk");
    await succeed({ command: "clean", args: ["-fd"] });
    expect(existsSync(join(dir, "junk"))).to.equal(false);
  });

  it("accesses a remote by its name, with the allowed protocols", async () => {
    const remote = join(parent, "remote.git");
    git("init", "-q", "--bare", remote);
    git("remote", "add", "origin", remote);
    expect(await fail({ command: "push", args: ["-u", "origin", "main"] })).to.contain(
      "not allowed",
    );
    const tool = newTool({ protocols: ["file"] });
    await succeed({ command: "push", args: ["-u", "origin", "main"] }, tool);
    await succeed({ command: "fetch", args: ["origin"] }, tool);
    expect(await succeed({ command: "pull", args: ["--ff-only"] }, tool)).to.contain("up to date");
    expect(git("ls-remote", "origin")).to.contain("refs/heads/main");
  });

  it("answers with the message of git when it fails, and suggests `paths` if a file was taken for a revision", async () => {
    expect(await fail({ command: "checkout", args: ["nowhere"] })).to.contain("nowhere");
    expect(await fail({ command: "diff", args: ["a.txt"] })).to.contain("give it in `paths`");
    expect(await fail({ command: "commit", message: "nothing" })).to.contain("nothing to commit");
  });

  it("accepts files after `--`, and files that begin with a dash or are deleted", async () => {
    write("-rf", "x\n");
    await succeed({ command: "add", args: ["--", "-rf"] });
    expect(git("ls-files")).to.contain("-rf");
    rmSync(join(dir, "a.txt"));
    expect(
      await succeed({ command: "diff", args: ["--name-status", "HEAD", "--", "a.txt"] }),
    ).to.contain("D\ta.txt");
    await succeed({ command: "checkout", args: ["HEAD", "--", "a.txt"] });
    expect(existsSync(join(dir, "a.txt"))).to.equal(true);
  });

  it("treats paths literally", async () => {
    write("b.txt", "two\n");
    expect(await fail({ command: "add", paths: ["*.txt"] })).to.contain("did not match");
    expect(await fail({ command: "add", paths: [":(top)b.txt"] })).to.contain("did not match");
  });

  it("cuts long output, and ends at its time limit", async () => {
    expect(await succeed({ command: "show" }, newTool({ maxOutputBytes: 10 }))).to.match(
      /^.{10}\n\[output truncated at 10 bytes\]$/,
    );
    const slow = join(parent, "bin");
    mkdirSync(slow);
    writeFileSync(
      join(slow, "git"),
      '#!/bin/sh\ncase "$*" in *config*|*ls-files*) exit 0;; esac\nsleep 60\n',
      { mode: 0o755 },
    );
    const tool = newTool({ timeoutMs: 400, env: { ...env, PATH: `${slow}:/usr/bin:/bin` } });
    expect(await fail({ command: "status" }, tool)).to.equal(
      "Git command timed out after 0.4 seconds",
    );
  });

  it("hides user names and passwords of URLs in git's errors", async () => {
    const fake = join(parent, "bin");
    mkdirSync(fake);
    writeFileSync(
      join(fake, "git"),
      '#!/bin/sh\ncase "$*" in *config*|*ls-files*) exit 0;; esac\necho "fatal: https://me:hunter2@example.test/x" >&2; exit 128\n',
      {
        mode: 0o755,
      },
    );
    const message = await fail(
      { command: "fetch" },
      newTool({ env: { PATH: `${fake}:/usr/bin:/bin` } }),
    );
    expect(message).to.equal("fatal: https://***@example.test/x");
  });

  it("fails the task if git or its sandbox is missing", async () => {
    await rejectionOf(
      ToolConfigurationError,
      call({ command: "status" }, newTool({ env: { PATH: "/nowhere" } })),
    );
    await rejectionOf(
      ToolConfigurationError,
      call({ command: "status" }, newTool({ sandbox: ["no-such-sandbox"] })),
    );
  });

  it("inherits only allowed variables", async () => {
    setEnvironment({ GIT_DIR: "/nowhere" });
    expect(await succeed({ command: "status", args: ["-s"] })).to.equal(
      "git status completed successfully",
    );
    expect(
      await succeed(
        { command: "status", args: ["-s"] },
        newTool({ allowedEnv: ["PATH", "GIT_DIR"] }),
      ),
    ).to.contain("completed");
  });

  describe("refuses to run", () => {
    const injections: readonly (readonly [string, unknown])[] = [
      ["an output file", { command: "log", args: ["--output=../pwned"] }],
      ["an abbreviated output file", { command: "log", args: ["--outp=../pwned"] }],
      ["an output file as two arguments", { command: "diff", args: ["--output", "../pwned"] }],
      [
        "files outside by --no-index",
        { command: "diff", args: ["--no-index", "/etc/passwd", "/etc/group"] },
      ],
      ["files outside without it", { command: "diff", args: ["/etc/passwd", "/etc/group"] }],
      ["files outside after --", { command: "diff", args: ["--", "/etc/passwd", "/etc/group"] }],
      ["a file outside by ..", { command: "add", args: ["../outside.txt"] }],
      ["a file outside in `paths`", { command: "log", paths: ["a/../../outside.txt"] }],
      ["a file outside by a linked folder", { command: "add", paths: ["link/outside.txt"] }],
      ["a program to pack", { command: "fetch", args: ["--upload-pack=touch pwned", "origin"] }],
      ["a program to receive", { command: "push", args: ["--receive-pack=touch pwned", "origin"] }],
      [
        "a program to receive, by its other name",
        { command: "push", args: ["--exec", "touch pwned", "origin"] },
      ],
      ["a program between commits", { command: "rebase", args: ["-x", "touch pwned", "HEAD"] }],
      [
        "a program between commits, joined",
        { command: "rebase", args: ["--exec=touch pwned", "HEAD"] },
      ],
      ["an interactive rebase", { command: "rebase", args: ["-i", "HEAD"] }],
      ["another merge program", { command: "merge", args: ["-s", "touch", "HEAD"] }],
      ["an unusual merge option", { command: "merge", args: ["-Xsubtree=/etc", "HEAD"] }],
      ["settings", { command: "log", args: ["-c", "core.pager=touch pwned", "-C", "/"] }],
      ["settings in place of the command", { command: "-c" }],
      ["another repository", { command: "status", args: ["--git-dir=/tmp"] }],
      ["another folder", { command: "status", args: ["-C", "/"] }],
      ["an external diff", { command: "diff", args: ["--ext-diff"] }],
      ["a file as filter", { command: "diff", args: ["--textconv"] }],
      ["an order file", { command: "diff", args: ["-O/etc/passwd"] }],
      [
        "a list of paths from a file",
        { command: "add", args: ["--pathspec-from-file=/etc/passwd"] },
      ],
      ["a message from a file", { command: "commit", args: ["-F", "/etc/passwd"] }],
      ["a template from a file", { command: "commit", args: ["--template=/etc/passwd"] }],
      [
        "a URL instead of a remote",
        { command: "push", args: ["https://evil.example/x.git", "main"] },
      ],
      ["a program as remote", { command: "fetch", args: ["ext::sh -c 'touch pwned'"] }],
      ["a folder as remote", { command: "pull", args: ["../other"] }],
      ["a host as remote", { command: "push", args: ["evil.example:x.git"] }],
      ["submodules", { command: "fetch", args: ["--recurse-submodules"] }],
      ["an option as a value", { command: "log", args: ["-n", "--output=pwned"] }],
      ["an option as a joined value", { command: "commit", args: ["--author=--exec"] }],
      ["a second command line", { command: "status; touch pwned" }],
      ["a second word in the command", { command: "log --output=pwned" }],
      ["a NUL character", { command: "log", args: ["HEAD\0--output=pwned"] }],
      ["a newline in a revision", { command: "log", args: ["HEAD\n--output=pwned"] }],
      ["an empty argument", { command: "log", args: [""] }],
      ["a bundle with an unknown letter", { command: "clean", args: ["-fdi"] }],
      ["keys of the prototype", { command: "constructor" }],
      ["paths for a command without paths", { command: "branch", args: ["--", "x"] }],
      ["a message for a command without a message", { command: "log", message: "x" }],
      ["a blank message", { command: "commit", message: " " }],
      ["an unknown action of stash", { command: "stash", args: ["store", "x"] }],
      ["an endless argument", { command: "log", args: ["x".repeat(5_000)] }],
      ["an endless path", { command: "log", paths: ["x".repeat(5_000)] }],
      ["an endless message", { command: "commit", message: "x".repeat(20_001) }],
      ["too many arguments", { command: "log", args: Array.from({ length: 101 }, () => "HEAD") }],
    ];
    for (const [title, input] of injections) {
      it(title, async () => {
        symlinkSync(parent, join(dir, "link"));
        writeFileSync(join(parent, "outside.txt"), "secret");
        git("remote", "add", "origin", "https://example.invalid/x.git");
        const message = await fail(input);
        expect(message).to.not.match(/root:|secret/);
        expect(
          [join(parent, "pwned"), join(dir, "pwned"), "pwned"].filter((file) => existsSync(file)),
        ).to.deep.equal([]);
      });
    }

    it("paths that no jail would accept", async () => {
      symlinkSync(join(parent, "missing"), join(dir, "nowhere"));
      const denied: readonly (readonly [string, string])[] = [
        ["..\\outside.txt", "path is outside the workspace directory"],
        ["/etc/passwd", "path is outside the workspace directory"],
        ["a\u0007b", "path contains a control character"],
        ["a\ud800b", "path is not well-formed text"],
        [`${"a".repeat(256)}/b`, "path contains a name of more than 255 bytes"],
        ["nowhere/a.txt", "path resolves outside the workspace directory"],
      ];
      for (const [path, problem] of denied)
        expect(await fail({ command: "add", paths: [path] })).to.equal(`Access denied: ${problem}`);
    });

    it("unknown commands, naming the known commands", async () => {
      const all =
        "add, branch, checkout, clean, commit, diff, fetch, log, merge, pull, push, rebase, reset, show, stash, status, tag";
      expect(await fail({ command: "daemon" })).to.equal(
        `Unknown git command: daemon. Allowed: ${all}`,
      );
      expect(await fail({ command: "push" }, newTool({ allow: ["status", "log"] }))).to.equal(
        "Unknown git command: push. Allowed: log, status",
      );
    });
  });

  describe("executes nothing that the repository names", () => {
    const pwned = (): boolean => existsSync(join(parent, "pwned"));
    const payload = (): string => `touch ${join(parent, "pwned")}`;

    it("no hook", async () => {
      for (const hook of [
        "pre-commit",
        "post-commit",
        "post-checkout",
        "commit-msg",
        "reference-transaction",
      ]) {
        write(`.git/hooks/${hook}`, `#!/bin/sh\n${payload()}\n`, 0o755);
      }
      git("config", "core.hooksPath", ".git/hooks");
      write("b.txt", "");
      await succeed({ command: "add", paths: ["b.txt"] });
      await succeed({ command: "commit", message: "x" });
      await succeed({ command: "checkout", args: ["-b", "other"] });
      expect(pwned()).to.equal(false);
    });

    for (const key of [
      "core.fsmonitor",
      "core.pager",
      "pager.log",
      "core.editor",
      "sequence.editor",
      "alias.status",
      "core.askPass",
    ]) {
      it(`not ${key}`, async () => {
        git("config", key, key === "alias.status" ? `!${payload()}` : payload());
        write("a.txt", "changed\n");
        await succeed({ command: "status" });
        await succeed({ command: "log" });
        await succeed({ command: "commit", args: ["--amend", "-a"] });
        expect(pwned()).to.equal(false);
      });
    }

    const settings: readonly (readonly [string, GitRequest])[] = [
      ["filter.evil.clean", { command: "status" }],
      ["filter.evil.process", { command: "add", args: ["."] }],
      ["filter.evil.smudge", { command: "checkout", paths: ["a.txt"] }],
      ["diff.external", { command: "diff" }],
      ["diff.evil.textconv", { command: "show" }],
      ["diff.evil.command", { command: "log", args: ["-p"] }],
      ["merge.evil.driver", { command: "merge", args: ["main"] }],
      ["gpg.program", { command: "log" }],
      ["gpg.ssh.program", { command: "log" }],
      ["core.sshCommand", { command: "fetch" }],
      ["core.gitProxy", { command: "fetch" }],
      ["credential.helper", { command: "push" }],
      ["credential.https://example.test.helper", { command: "pull" }],
      ["remote.origin.uploadpack", { command: "fetch" }],
      ["remote.origin.receivepack", { command: "push" }],
      ["remote.origin.vcs", { command: "fetch" }],
      ["hook.evil.command", { command: "status" }],
    ];
    for (const [key, input] of settings) {
      it(`not ${key}: it refuses the call`, async () => {
        write(".gitattributes", "*.txt filter=evil diff=evil merge=evil\n");
        write("a.txt", "changed\n");
        git("config", key, payload());
        expect(await fail(input)).to.contain(
          `Refused: the repository's own configuration names programs that git would run (${key.toLowerCase()})`,
        );
        expect(pwned()).to.equal(false);
      });
    }

    it("nor what an included file names, or the configuration of one working tree", async () => {
      writeFileSync(join(parent, "included"), '[filter "evil"]\n\tclean = touch pwned\n');
      git("config", "include.path", join(parent, "included"));
      expect(await fail({ command: "status" })).to.contain("filter.evil.clean");
      git("config", "--unset", "include.path");
      git("config", "extensions.worktreeConfig", "true");
      git("config", "--worktree", "filter.evil.smudge", "touch pwned");
      expect(await fail({ command: "status" })).to.contain("filter.evil.smudge");
    });

    it("nor what a file names that is included after another branch is checked out", async () => {
      git("checkout", "-q", "-b", "other");
      write(".gitattributes", "*.txt filter=evil\n");
      git("add", ".");
      git("commit", "-q", "-m", "Other");
      git("checkout", "-q", "main");
      write("a.txt", "changed\n");
      writeFileSync(join(parent, "included"), `[filter "evil"]\n\tclean = ${payload()}\n`);
      git("config", "includeIf.onbranch:other.path", join(parent, "included"));
      git("config", "rebase.autoStash", "true");
      const rebase = { command: "rebase", args: ["main", "other"] };
      expect(await fail(rebase)).to.equal(
        "Refused: the repository's own configuration includes files that may name programs (includeif.onbranch:other.path)",
      );
      expect(pwned()).to.equal(false);
      await succeed(rebase, newTool({ trustedConfig: ["includeIf.onbranch:other.path"] }));
      expect(pwned(), "what is trusted").to.equal(true);
    });

    it("nor what a submodule's included files name", async () => {
      cpSync(join(model, "work"), join(dir, "sub"), { recursive: true });
      git("add", "sub");
      git("commit", "-q", "-m", "Sub");
      git("-C", "sub", "config", "includeIf.onbranch:other.path", join(parent, "included"));
      expect(await fail({ command: "add", args: ["-u"] })).to.contain(
        "a submodule's own configuration includes files that may name programs",
      );
    });

    it("nor by fetching missing objects in a partial clone", async () => {
      const blob = git("rev-parse", "HEAD:a.txt").trim();
      rmSync(join(dir, ".git/objects", blob.slice(0, 2)), { recursive: true });
      const settings = {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": "ssh://127.0.0.1/x",
        "core.sshCommand": payload(),
      };
      for (const [key, value] of Object.entries(settings)) git("config", key, value);
      for (const input of [
        { command: "show" },
        { command: "log", args: ["-p"] },
        { command: "checkout", paths: ["a.txt"] },
      ])
        await fail(input);
      expect(pwned()).to.equal(false);
    });

    it("nor what a submodule names, at any depth", async () => {
      for (const folder of ["sub", "sub/inner"]) {
        const inner = join(dir, folder);
        cpSync(join(model, "work"), inner, { recursive: true });
        git("-C", folder, "config", "user.name", "A");
      }
      git("-C", "sub", "add", "inner");
      git("-C", "sub", "commit", "-q", "-m", "Inner");
      git("add", "sub");
      git("commit", "-q", "-m", "Sub");
      await succeed({ command: "add", args: ["-u"] });
      git("-C", "sub/inner", "config", "filter.evil.clean", payload());
      expect(await fail({ command: "add", args: ["-u"] })).to.contain("(filter.evil.clean)");
      git("-C", "sub/inner", "config", "--unset", "filter.evil.clean");
      git("-C", "sub", "config", "filter.evil.clean", payload());
      write("sub/.gitattributes", "* filter=evil\n");
      write("sub/a.txt", "two\n");
      for (const input of [
        { command: "add", args: ["-u"] },
        { command: "commit", args: ["--dry-run"] },
        { command: "stash" },
      ])
        expect(await fail(input)).to.contain(
          "Refused: a submodule's own configuration names programs that git would run (filter.evil.clean)",
        );
      await succeed({ command: "status" });
      await succeed(
        { command: "add", args: ["-u"] },
        newTool({ trustedConfig: ["filter.evil.clean"] }),
      );
      expect(pwned(), "what is trusted").to.equal(true);
    });

    it("unless the setting is trusted", async () => {
      git("config", "filter.lfs.clean", "cat");
      git("config", "filter.other.clean", "cat");
      expect(
        await fail({ command: "status" }, newTool({ trustedConfig: ["filter.lfs.*"] })),
      ).to.contain("(filter.other.clean)");
      await succeed(
        { command: "status" },
        newTool({ trustedConfig: ["filter.LFS.*", "filter.other.clean"] }),
      );
    });

    it("nor a rebase's list of commands", async () => {
      mkdirSync(join(dir, ".git/rebase-merge"));
      write(
        ".git/rebase-merge/git-rebase-todo",
        `pick ${git("rev-parse", "HEAD").trim()} First\nexec ${payload()}\n`,
      );
      expect(await fail({ command: "rebase", args: ["--continue"] })).to.contain(
        "would run commands",
      );
      expect(pwned()).to.equal(false);
    });
  });

  describe("stays in its repository", () => {
    it("when a setting names another working tree", async () => {
      writeFileSync(join(parent, "outside.txt"), "secret");
      git("config", "core.worktree", parent);
      expect(await succeed({ command: "status", args: ["-s", "-uall"] })).to.not.contain(
        "outside.txt",
      );
    });

    it("when .git is replaced by a file or a link to another place", async () => {
      const other = join(parent, "other");
      const tool = newTool();
      renameSync(join(dir, ".git"), other);
      expect(await fail({ command: "log" }, tool)).to.contain("Not a git repository");
      write(".git", `gitdir: ${other}\n`);
      expect(await fail({ command: "log" }, tool)).to.contain("Not a git repository");
      rmSync(join(dir, ".git"));
      symlinkSync(other, join(dir, ".git"));
      expect(await fail({ command: "log" }, tool)).to.contain("Not a git repository");
    });

    it("and does not use a repository in a parent folder", async () => {
      mkdirSync(join(dir, "sub"));
      expect(await fail({ command: "log" }, newTool({ baseDir: join(dir, "sub") }))).to.contain(
        "Not a git repository",
      );
    });

    it("also in a linked working tree, or if its folder is reached by a link", async () => {
      git("worktree", "add", "-q", "-b", "linked", join(parent, "linked"));
      expect(
        await succeed(
          { command: "branch", args: ["--show-current"] },
          newTool({ baseDir: join(parent, "linked") }),
        ),
      ).to.equal("linked");
      symlinkSync(dir, join(parent, "alias"));
      expect(
        await succeed(
          { command: "log", args: ["--oneline"], paths: ["a.txt"] },
          newTool({ baseDir: join(parent, "alias") }),
        ),
      ).to.contain("First");
    });
  });

  describe("approval", () => {
    const looking: readonly GitRequest[] = [
      { command: "status" },
      { command: "diff", args: ["--cached"] },
      { command: "log", args: ["-p"] },
      { command: "show", args: ["HEAD"] },
      { command: "branch" },
      { command: "branch", args: ["-avv"] },
      { command: "branch", args: ["--list", "f*"] },
      { command: "branch", args: ["--merged=main"] },
      { command: "tag", args: ["-l", "v*"] },
      { command: "stash", args: ["list"] },
      { command: "stash", args: ["show", "stash@{0}"] },
    ];
    const changing: readonly GitRequest[] = [
      { command: "add", args: ["."] },
      { command: "commit", message: "x" },
      { command: "commit", args: ["--amend", "--no-edit"] },
      { command: "branch", args: ["new"] },
      { command: "branch", args: ["-v", "new"] },
      { command: "branch", args: ["-D", "x"] },
      { command: "branch", args: ["--delete", "--force", "x"] },
      { command: "branch", args: ["--list", "-D", "x"] },
      { command: "branch", args: ["-f", "main", "HEAD~1"] },
      { command: "branch", args: ["--unset-upstream"] },
      { command: "tag", args: ["v1"] },
      { command: "tag", args: ["-d", "v1"] },
      { command: "tag", args: ["-f", "v1"] },
      { command: "stash" },
      { command: "stash", args: ["pop"] },
      { command: "stash", args: ["drop"] },
      { command: "stash", args: ["clear"] },
      { command: "checkout", args: ["main"] },
      { command: "checkout", args: ["HEAD", "--", "a.txt"] },
      { command: "checkout", paths: ["."] },
      { command: "checkout", args: ["-f", "main"] },
      { command: "reset", args: ["--hard"] },
      { command: "reset", args: ["--keep", "HEAD~1"] },
      { command: "rebase", args: ["main"] },
      { command: "merge", args: ["x"] },
      { command: "clean", args: ["-fdx"] },
      { command: "push" },
      { command: "push", args: ["--force-with-lease"] },
      { command: "push", args: ["origin", "+main"] },
      { command: "push", args: ["origin", ":main"] },
      { command: "push", args: ["-d", "origin", "x"] },
      { command: "fetch" },
      { command: "fetch", args: ["--force"] },
      { command: "pull", args: ["--rebase"] },
    ];
    for (const input of looking)
      it(`is not required for reading: ${JSON.stringify(input)}`, () =>
        expect(newTool().needsApproval?.(input)).to.equal(false));
    for (const input of changing) {
      it(`is required for changes: ${JSON.stringify(input)}`, () => {
        expect(newTool().needsApproval?.(input)).to.equal(true);
        expect(newTool({ requireApproval: false }).needsApproval?.(input)).to.equal(false);
      });
    }

    it("is not requested for refused calls", () => {
      expect(newTool().needsApproval?.({ command: "push", args: ["--exec=x"] })).to.equal(false);
      expect(newTool({ allow: ["log"] }).needsApproval?.({ command: "push" })).to.equal(false);
    });

    it("shows the complete command, with unusual arguments in quotes", () => {
      const show = (input: GitRequest): string | undefined =>
        newTool().approvalDescription?.(input);
      expect(show({ command: "reset", args: ["--hard", "HEAD~1"] })).to.equal(
        "Execute git reset --hard HEAD~1",
      );
      expect(show({ command: "commit", args: ["-a"], message: "A\nB", paths: ["a b"] })).to.equal(
        'Execute git commit -a --message "A\\nB" -- "a b"',
      );
    });
  });

  it("declares the effects of its commands, and runs without a model", () => {
    expect(newTool()).to.include({
      name: "git",
      effect: "send",
      untrusted: true,
      sequential: true,
      requireApproval: true,
    });
    expect(newTool({ allow: ["status", "commit"] }).effect).to.equal("write");
    expect(newTool({ allow: ["status", "log"] }).effect).to.equal("read");
    const { effectOf } = newTool();
    const effects = [
      { command: "status" },
      { command: "commit", message: "m" },
      { command: "push" },
      { command: "no-such" },
    ].map((input) => effectOf?.(input));
    expect(effects).to.deep.equal(["read", "write", "send", "read"]); // of each call: what is refused does nothing
    expect(newTool({ requireApproval: false }).requireApproval).to.equal(false);
  });

  it("lists the allowed commands for the model", () => {
    const { jsonSchema } = newTool({ allow: ["log", "show"] }).input as {
      readonly jsonSchema: { readonly properties: { readonly command: object } };
    }; // a pair
    expect(jsonSchema.properties.command).to.deep.include({
      type: "string",
      enum: ["log", "show"],
    });
  });

  const wrong: readonly (readonly [string, () => object, string])[] = [
    ["no folder", () => ({}), "baseDir must be an existing directory"],
    [
      "a missing folder",
      () => ({ baseDir: join(dir, "gone") }),
      "baseDir must be an existing directory",
    ],
    [
      "a file as folder",
      () => ({ baseDir: join(dir, "a.txt") }),
      "baseDir must be an existing directory",
    ],
    ["an unknown command", () => ({ baseDir: dir, allow: ["stauts"] }), "Did you mean 'status'?"],
    ["an empty list of commands", () => ({ baseDir: dir, allow: [] }), "at least one"],
    ["an unsafe protocol", () => ({ baseDir: dir, protocols: ["ext"] }), "protocols"],
    ["a blank setting", () => ({ baseDir: dir, trustedConfig: [""] }), "trustedConfig"],
    ["an unknown option", () => ({ baseDir: dir, requireAproval: false }), "requireApproval"],
    ["a time limit of 0", () => ({ baseDir: dir, timeoutMs: 0 }), "timeoutMs"],
    ["an output limit of 0", () => ({ baseDir: dir, maxOutputBytes: 0 }), "maxOutputBytes"],
  ];
  for (const [title, options, text] of wrong) {
    it(`refuses ${title}`, () => {
      expect(() => gitTool(options() as GitToolOptions)).to.throw(ValidationError, text); // on purpose
    });
  }
});
