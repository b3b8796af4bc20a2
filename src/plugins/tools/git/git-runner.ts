import { ToolConfigurationError } from "../../../contracts/errors.js";
import { AccessDeniedError, CommandError } from "../../../contracts/state-errors.js";
import { ToolResult } from "../../../contracts/tool.js";
import type { CommandResult } from "../shared/run-command.js";
import { JailRoot } from "../shared/jail-root.js";
import { runCommand } from "../shared/run-command.js";
import type { RunCommandOptions } from "../shared/run-command-options.js";
import type { GitCall } from "./git-arguments.js";
import type { GitSettings } from "./git-options.js";
import type { GitRepository } from "./git-repository.js";
import { findRepository, hasRepository, rebaseRunsCommands } from "./git-repository.js";
import { dangerIn } from "./git-danger.js";
import { fixedArguments, fixedEnvironment } from "./git-settings.js";

/** What git says when it was given a path where it expected a revision. */
const NOT_A_REVISION =
  /bad revision|unknown revision|invalid reference|ambiguous argument|bad object/;
/** A name and password in an address. */
const CREDENTIALS = /:\/\/[^/@\s]{1,1000}@/g;

/** Runs calls in one working tree. */
export class GitRunner {
  readonly #settings: GitSettings;
  readonly #repository: GitRepository;
  readonly #root: JailRoot;

  /** @throws ValidationError unless `baseDir` is a folder. */
  constructor(settings: GitSettings) {
    this.#settings = settings;
    this.#repository = findRepository(settings.baseDir);
    this.#root = new JailRoot(settings.baseDir, "workspace");
  }

  /** Runs a call, unless its paths lead out of the working tree or the repository is set up to run programs. */
  async run(call: GitCall, signal: AbortSignal): Promise<ToolResult> {
    let paths: readonly string[];
    try {
      paths = await Promise.all(call.paths.map((path) => this.#pathInside(path)));
    } catch (error) {
      if (AccessDeniedError.isInstance(error)) return ToolResult.failure(error.message);
      throw error;
    }
    if (!(await hasRepository(this.#repository)))
      return ToolResult.failure(`Not a git repository: the workspace has no .git folder`);
    const danger = await this.#danger(call, signal);
    if (danger !== undefined) return ToolResult.failure(danger);
    // Always `--`: without it git takes operands that are no revisions for paths, also of files outside.
    const end = call.spec.paths ? ["--", ...paths] : [];
    const args = [
      ...call.name.split(" "),
      ...call.spec.fixed,
      ...call.options,
      ...call.operands,
      ...end,
    ];
    // Only calls that are meant to reach another machine may: in a partial clone any could.
    const env = call.spec.remote
      ? { GIT_ALLOW_PROTOCOL: this.#settings.protocols.join(":"), GIT_NO_LAZY_FETCH: "0" }
      : {};
    return this.#toResult(call, await this.#git(this.#repository, args, { signal, env }));
  }

  /**
   * A path as git gets it, relative to the working tree. It need not be there, since git also knows deleted files; a link at its end is a thing of its
   * own for git and is not followed. @throws AccessDeniedError for a path that leads out of the working tree.
   */
  async #pathInside(path: string): Promise<string> {
    const { relativePath } = await this.#root.place(path);
    return relativePath === "" ? "." : relativePath;
  }

  async #git(
    { gitDir, baseDir }: GitRepository,
    args: readonly string[],
    o: Pick<RunCommandOptions, "signal" | "env" | "maxOutputBytes">,
  ): Promise<CommandResult> {
    const { limits } = this.#settings;
    const env = { ...limits.env, ...fixedEnvironment(), ...o.env };
    try {
      return await runCommand({
        ...limits,
        ...o,
        env,
        command: [...fixedArguments(gitDir, baseDir), ...args],
        cwd: baseDir,
      });
    } catch (error) {
      if (!CommandError.isInstance(error)) throw error;
      throw new ToolConfigurationError(`Tool 'git' cannot run: ${error.message}`, {
        cause: error,
        hint: "Install git, or set PATH in `env`.",
      });
    }
  }

  /** Why the call is not made: somebody, perhaps an agent with a tool for files, has set up the repository so that git would run a program. */
  async #danger(call: GitCall, signal: AbortSignal): Promise<string | undefined> {
    const { trustedConfig } = this.#settings;
    const isTrusted = (name: string): boolean =>
      trustedConfig.some((entry) =>
        entry.endsWith("*") ? name.startsWith(entry.slice(0, -1)) : name === entry,
      );
    const danger = await dangerIn(
      this.#repository,
      { remote: call.spec.remote, submodules: !call.reads, isTrusted },
      (repository, args, maxOutputBytes) => this.#git(repository, args, { signal, maxOutputBytes }),
    );
    if (
      danger === undefined &&
      call.name === "rebase" &&
      (await rebaseRunsCommands(this.#repository))
    )
      return "Refused: the rebase under way would run commands";
    return danger;
  }

  #toResult({ name }: GitCall, result: CommandResult): ToolResult {
    const { limits } = this.#settings;
    const { exitCode, stdout, stderr, stdoutTruncated, stderrTruncated } = result;
    if (result.timedOut)
      return ToolResult.failure(`Git command timed out after ${limits.timeoutMs / 1000} seconds`);
    const shown = (text: string, cut: boolean): string =>
      cut
        ? `${text.trimEnd()}\n[output truncated at ${limits.maxOutputBytes} bytes]`
        : text.trimEnd();
    const output = shown(stdout, stdoutTruncated);
    const errors = shown(stderr, stderrTruncated).replace(CREDENTIALS, "://***@");
    if (exitCode === 0)
      return ToolResult.success(
        [output, errors].find((text) => text.trim() !== "") ?? `git ${name} completed successfully`,
      );
    const problem = [errors, output].filter((text) => text.trim() !== "").join("\n");
    if (problem === "")
      return ToolResult.failure(`git ${name} failed with exit code ${exitCode ?? "unknown"}`);
    return ToolResult.failure(
      NOT_A_REVISION.test(errors)
        ? `${problem}\nIf you meant a file or folder, give it in \`paths\`.`
        : problem,
    );
  }
}
