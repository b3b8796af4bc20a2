import { delimiter, isAbsolute } from "node:path";
import { ValidationError } from "../../../contracts/errors.js";
import { AccessDeniedError, CommandError } from "../../../contracts/state-errors.js";
import {
  checkOptions,
  preview,
  requireArray,
  requireDuration,
  requireInteger,
  requireText,
} from "../../../contracts/validation.js";
import { isObject } from "../../../util/objects.js";

/** The options of `runCommand`: the command and its limits. */
export interface RunCommandOptions {
  /**
   * The program and its arguments. They are not passed through a shell. A program name without a
   * slash is searched for in the absolute folders of `PATH`.
   */
  readonly command: readonly string[];
  /** Working directory. Default: the working directory of this process. */
  readonly cwd?: string | undefined;
  /**
   * Environment variables in addition to the inherited ones, which they override. Default: none.
   */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * Names of the environment variables inherited from this process. `X*` stands for all names that
   * begin with X. Default: `DEFAULT_ALLOWED_ENV`.
   */
  readonly allowedEnv?: readonly string[] | undefined;
  /** The standard input. It ends after this content. Default: empty. */
  readonly stdin?: string | Uint8Array | undefined;
  /** Time limit of the program and its process group in milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Time between SIGTERM and SIGKILL in milliseconds. After an abort at most 50. Default 500. */
  readonly killGraceMs?: number | undefined;
  /**
   * Limit of the kept bytes of standard output and of standard error, each. Further output is read
   * and discarded. Default 1 MiB.
   */
  readonly maxOutputBytes?: number | undefined;
  /** Ends the program and its process group when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** The only programs that may run, in exactly the form used in `command`. Default: all. */
  readonly allow?: readonly string[] | undefined;
  /**
   * A wrapper to which the command is appended, such as `["bwrap", "--unshare-all", "--ro-bind",
   * "/", "/"]`. Default: none.
   */
  readonly sandbox?: readonly string[] | undefined;
}

/**
 * The environment variables that a command inherits by default. None of them usually contains a
 * secret or makes a program load code.
 */
export const DEFAULT_ALLOWED_ENV: readonly string[] = Object.freeze([
  ...["PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "TMP", "TEMP"],
  // On Windows, programs do not start without some of these variables.
  ...[
    "SystemRoot",
    "SystemDrive",
    "windir",
    "ComSpec",
    "PATHEXT",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "ProgramFiles",
    "ProgramData",
  ],
]);

/** The validated options with defaults. */
export interface ResolvedCommand {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly killGraceMs: number;
  readonly maxOutputBytes: number;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string | Uint8Array | undefined;
  readonly signal: AbortSignal | undefined;
  readonly sandbox: readonly string[];
}

const DEFAULTS = Object.freeze({ timeoutMs: 30_000, killGraceMs: 500, maxOutputBytes: 1_048_576 });

/** Options of a tool that are passed on to `runCommand`. */
export const COMMAND_OPTIONS = [
  "cwd",
  "env",
  "allowedEnv",
  "timeoutMs",
  "killGraceMs",
  "maxOutputBytes",
  "sandbox",
] as const;

const OPTIONS = [...COMMAND_OPTIONS, "command", "stdin", "signal", "allow"];

function requireTexts(what: string, value: unknown): void {
  requireArray(what, value);
  for (const entry of (value ?? []) as readonly unknown[]) {
    if (typeof entry !== "string")
      throw new ValidationError(`${what} must be an array of strings, got: ${preview(value)}`);
    if (entry.includes("\0"))
      throw new ValidationError(
        `${what} must not contain NUL characters, got: ${preview(JSON.stringify(entry))}`,
      );
  }
}

function checkEnv(what: string, env: unknown): void {
  if (env === undefined) return;
  if (!isObject(env))
    throw new ValidationError(`${what} env must be an object, got: ${preview(env)}`);
  for (const [name, value] of Object.entries(env)) {
    if (name === "" || /[=\0]/.test(name))
      throw new ValidationError(
        `${what} env has a name that no variable can have: ${preview(JSON.stringify(name))}`,
      );
    // The message omits the value, because it may be a secret.
    if (typeof value !== "string" || value.includes("\0"))
      throw new ValidationError(`${what} env '${name}' must be a string without NUL characters`);
  }
}

/**
 * Checks a program and its arguments.
 *
 * @throws ValidationError with `command must be set` or `command must not be empty`, or for an
 * element that is not a text.
 */
export function checkCommand(what: string, command: unknown): void {
  if (command === undefined || command === null)
    throw new ValidationError("command must be set", {
      hint: `Give ${what} a list: [program, ...arguments].`,
    });
  requireTexts(`${what} command`, command);
  const [file] = command as readonly string[]; // checked above
  if (file === undefined) throw new ValidationError("command must not be empty");
  requireText(
    file,
    `${what} command must begin with the name of a program, got: ${preview(command)}`,
  );
}

/**
 * Checks the options that `runCommand` and the tools based on it share.
 *
 * @throws ValidationError naming the first invalid option.
 */
export function checkCommandOptions(
  what: string,
  options: Omit<RunCommandOptions, "command">,
): void {
  if (options.cwd !== undefined)
    requireText(options.cwd, `${what} cwd must be a folder, got: ${preview(options.cwd)}`);
  if (options.cwd?.includes("\0") === true)
    throw new ValidationError(`${what} cwd must not contain NUL characters`);
  checkEnv(what, options.env);
  requireTexts(`${what} allowedEnv`, options.allowedEnv);
  requireTexts(`${what} allow`, options.allow);
  requireTexts(`${what} sandbox`, options.sandbox);
  if (options.sandbox !== undefined)
    requireText(options.sandbox[0], `${what} sandbox must begin with the name of a program`);
  requireDuration(`${what} timeoutMs`, options.timeoutMs);
  requireInteger(`${what} killGraceMs`, options.killGraceMs, 0);
  requireInteger(`${what} maxOutputBytes`, options.maxOutputBytes, 1);
}

/**
 * Returns the inherited variables. Keeps only the absolute folders of `PATH`. With others, child
 * processes could load programs from the working directory, which an agent may control.
 */
function inherited(allowed: readonly string[]): Record<string, string> {
  const names = new Set(allowed);
  const beginnings = allowed.filter((name) => name.endsWith("*")).map((name) => name.slice(0, -1));
  const passes = ([name, value]: readonly [string, string | undefined]): boolean =>
    value !== undefined &&
    (names.has(name) || beginnings.some((beginning) => name.startsWith(beginning)));
  const variables = Object.fromEntries(Object.entries(process.env).filter(passes)) as Record<
    string,
    string
  >; // variables without a value are filtered out
  const { PATH } = variables;
  return PATH === undefined
    ? variables
    : { ...variables, PATH: PATH.split(delimiter).filter(isAbsolute).join(delimiter) };
}

/**
 * Validates the options of a command and applies the defaults.
 *
 * @throws ValidationError for an invalid option.
 * @throws AccessDeniedError for a program that is not allowed.
 */
export function resolveCommand(options: RunCommandOptions): ResolvedCommand {
  checkOptions("runCommand()", options, OPTIONS);
  checkCommand("runCommand()", options.command);
  checkCommandOptions("runCommand()", options);
  const { command, allow, stdin, signal, sandbox = [], cwd = process.cwd() } = options;
  const [file = ""] = command;
  if (allow !== undefined && !allow.includes(file)) {
    throw new AccessDeniedError(
      `Command '${preview(file)}' is not allowed. Allowed: ${allow.join(", ")}`,
      { hint: "Add it to `allow`, if it should be." },
    );
  }
  if (stdin !== undefined && typeof stdin !== "string" && !(stdin instanceof Uint8Array)) {
    throw new ValidationError(
      `runCommand() stdin must be a string or bytes, got: ${preview(stdin)}`,
    );
  }
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new ValidationError(
      `runCommand() signal must be an AbortSignal, got: ${preview(signal)}`,
    );
  const env = {
    ...inherited(options.allowedEnv ?? DEFAULT_ALLOWED_ENV),
    ...options.env,
  };
  const {
    timeoutMs = DEFAULTS.timeoutMs,
    killGraceMs = DEFAULTS.killGraceMs,
    maxOutputBytes = DEFAULTS.maxOutputBytes,
  } = options;
  return { command, cwd, env, stdin, signal, sandbox, timeoutMs, killGraceMs, maxOutputBytes };
}

/** Creates the error of a command that could not be started. */
export function cannotStart(file: string, why: string, cause?: unknown): CommandError {
  return new CommandError(
    `Failed to start process: '${preview(file)}': ${why}`,
    file,
    cause === undefined ? {} : { cause },
  );
}
