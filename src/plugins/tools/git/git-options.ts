import { ValidationError } from "../../../contracts/errors.js";
import {
  checkOptions,
  knownNames,
  preview,
  requireArray,
  requireBoolean,
  requireText,
} from "../../../contracts/validation.js";
import type { RunCommandOptions } from "../shared/run-command-options.js";
import { checkCommandOptions } from "../shared/run-command-options.js";
import { GIT_COMMAND_NAMES } from "./git-commands.js";

/** Options of `gitTool`. */
export interface GitToolOptions extends Pick<
  RunCommandOptions,
  "env" | "allowedEnv" | "timeoutMs" | "maxOutputBytes" | "sandbox"
> {
  /** The root folder of the working tree. Paths outside of it are refused. */
  readonly baseDir: string;
  /** The allowed git commands. Default: all 17 that the tool supports. */
  readonly allow?: readonly string[] | undefined;
  /** Whether each call that changes something needs approval by a person. Default true. */
  readonly requireApproval?: boolean | undefined;
  /**
   * The protocols allowed for remotes: "https", "ssh", "http", "git", "file". Default: https and
   * ssh.
   */
  readonly protocols?: readonly string[] | undefined;
  /**
   * Settings of the repository that may name programs to run, such as `filter.lfs.*`. Default:
   * none.
   */
  readonly trustedConfig?: readonly string[] | undefined;
}

/** The validated options with defaults. */
export interface GitSettings {
  readonly baseDir: string;
  readonly allow: readonly string[];
  readonly requireApproval: boolean;
  readonly protocols: readonly string[];
  readonly trustedConfig: readonly string[];
  /** Limits of every git process. `timeoutMs` and `maxOutputBytes` are always set. */
  readonly limits: Pick<RunCommandOptions, "env" | "allowedEnv" | "sandbox"> & {
    readonly timeoutMs: number;
    readonly maxOutputBytes: number;
  };
}

const OPTIONS = [
  "baseDir",
  "allow",
  "requireApproval",
  "protocols",
  "trustedConfig",
  "env",
  "allowedEnv",
  "timeoutMs",
  "maxOutputBytes",
  "sandbox",
];
const PROTOCOLS = ["https", "ssh", "http", "git", "file"];
const DEFAULTS = Object.freeze({
  timeoutMs: 30_000,
  maxOutputBytes: 100_000,
  protocols: Object.freeze(["https", "ssh"]),
});

function requireNames(
  what: string,
  names: readonly string[] | undefined,
  known: readonly string[],
): void {
  requireArray(what, names);
  for (const name of names ?? []) {
    if (!known.includes(name))
      throw new ValidationError(
        `${what} has an unknown entry '${preview(name)}'. ${knownNames(String(name), known)}`,
      );
  }
}

/**
 * Validates the options and applies the defaults.
 *
 * @throws ValidationError naming the first invalid option.
 */
export function resolveGitOptions(options: GitToolOptions): GitSettings {
  checkOptions("gitTool()", options, OPTIONS);
  const {
    baseDir,
    allow = GIT_COMMAND_NAMES,
    requireApproval = true,
    protocols = DEFAULTS.protocols,
    trustedConfig = [],
  } = options;
  const {
    env,
    allowedEnv,
    sandbox,
    timeoutMs = DEFAULTS.timeoutMs,
    maxOutputBytes = DEFAULTS.maxOutputBytes,
  } = options;
  requireText(baseDir, `baseDir must be an existing directory: ${preview(baseDir)}`);
  requireNames("gitTool() allow", allow, GIT_COMMAND_NAMES);
  if (allow.length === 0)
    throw new ValidationError("gitTool() allow must name at least one command");
  requireNames("gitTool() protocols", protocols, PROTOCOLS);
  requireArray("gitTool() trustedConfig", trustedConfig);
  trustedConfig.forEach((name) =>
    requireText(
      name,
      `gitTool() trustedConfig must contain names of settings, got: ${preview(name)}`,
    ),
  );
  requireBoolean("gitTool() requireApproval", requireApproval);
  const limits = { env: { ...env }, allowedEnv, sandbox, timeoutMs, maxOutputBytes };
  checkCommandOptions("gitTool()", { ...limits, env });
  return {
    baseDir,
    allow: [...allow],
    requireApproval,
    protocols: [...protocols],
    trustedConfig: trustedConfig.map((name) => name.toLowerCase()),
    limits,
  };
}
