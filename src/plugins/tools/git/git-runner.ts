import { ToolConfigurationError } from "../../../contracts/errors.js";
import { AccessDeniedError, CommandError } from "../../../contracts/state-errors.js";
import { ToolResult } from "../../../contracts/tool-result.js";
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

/** Git's message for a path where a revision is expected. */
const NOT_A_REVISION =
  /bad revision|unknown revision|invalid reference|ambiguous argument|bad object/;
/** A user name and password in a URL. */
const CREDENTIALS = /:\/\/[^/@\s]{1,1000}@/g;

/** Runs calls in one working tree. */
export class GitRunner {
  readonly #settings: GitSettings;
  readonly #repository: GitRepository;
  readonly #root: JailRoot;

  /** @throws ValidationError unless `baseDir` is a folder */
  constructor(settings: GitSettings) {
    this.#settings = settings;
    this.#repository = findRepository(settings.baseDir);
    this.#root = new JailRoot(settings.baseDir, "workspace");
  }

  /**
   * Runs a call. Rejects paths outside the working tree and repositories configured to run
   * programs.
   */
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
    // Always passes `--`. Without it git reads operands that are not revisions as paths, even
    // outside the working tree.
    const end = call.spec.paths ? ["--", ...paths] : [];
    const args = [
      ...call.name.split(" "),
      ...call.spec.fixed,
      ...call.options,
      ...call.operands,
      ...end,
    ];
    // Allows network access only for remote commands. In a partial clone any command could connect.
    const env = call.spec.remote
      ? { GIT_ALLOW_PROTOCOL: this.#settings.protocols.join(":"), GIT_NO_LAZY_FETCH: "0" }
      : {};
    return this.#toResult(call, await this.#git(this.#repository, args, { signal, env }));
  }

  /**
   * Returns a path relative to the working tree, as git receives it. The path need not exist,
   * because git accepts paths of deleted files. A link at its end is not followed, because git
   * tracks the link itself.
   * @throws AccessDeniedError for a path outside the working tree
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

  /**
   * Returns why the call is rejected: the repository is configured so that git would run a program.
   * An agent with a file tool could have changed the configuration.
   */
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
