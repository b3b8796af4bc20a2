import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireBoolean } from "../../../contracts/validation.js";

/** The output of progress lines: `process.stdout`, or any object with a method `write`. */
export interface ProgressStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  /** The size of the terminal, in characters. Default 80 columns and 24 rows. */
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

/** Options of `consoleProgress`. */
export interface ConsoleProgressOptions {
  /** The output. Default `process.stdout`. */
  readonly stream?: ProgressStream | undefined;
  /**
   * Whether to use colours. A non-empty environment variable `NO_COLOR` always turns colours off.
   * Default: whether the stream is a terminal.
   */
  readonly color?: boolean | undefined;
  /**
   * Whether to print the error of a failed run. Set it to `false` in a program that prints the
   * error itself. Reasons that the error omits are still printed. Default true.
   */
  readonly errors?: boolean | undefined;
  /**
   * Whether to show each task in one line that is overwritten, instead of appending lines. Default:
   * true on a terminal that can overwrite lines, unless `CI` or `NO_COLOR` is set or `TERM` is
   * `dumb`.
   */
  readonly live?: boolean | undefined;
  /**
   * Whether to print only one line for each ended task and one line for the run, without a table.
   * With `live`, ended tasks have no line. Default false.
   */
  readonly brief?: boolean | undefined;
}

/** Returns whether a stream is a terminal whose lines can be overwritten. */
export function drawsOver({ isTTY }: ProgressStream): boolean {
  const { CI = "", NO_COLOR = "", TERM } = process.env;
  return isTTY === true && NO_COLOR === "" && TERM !== "dumb" && ["", "0", "false"].includes(CI);
}

/**
 * Returns whether the terminal of the process can show non-ASCII characters. False on Windows with
 * a code page, and on the Linux console.
 */
export function showsUnicode(): boolean {
  const { TERM, TERM_PROGRAM, WT_SESSION } = process.env;
  if (process.platform === "win32")
    return WT_SESSION !== undefined || TERM_PROGRAM === "vscode" || TERM === "xterm-256color";
  const { LC_ALL, LC_CTYPE, LANG } = process.env;
  const locale = [LC_ALL, LC_CTYPE, LANG].find((value) => value !== undefined && value !== "");
  return TERM !== "linux" && (locale === undefined || /utf-?8/i.test(locale));
}

/** Applies the defaults. @throws ValidationError for an invalid option. */
export function resolveConsoleProgressOptions(options: ConsoleProgressOptions): {
  readonly stream: ProgressStream;
  readonly color: boolean;
  readonly errors: boolean;
  readonly live: boolean;
  readonly brief: boolean;
} {
  checkOptions("consoleProgress", options, ["stream", "color", "errors", "live", "brief"]);
  for (const name of ["errors", "live", "brief"] as const)
    requireBoolean(`consoleProgress ${name}`, options[name]);
  const stream: ProgressStream = options.stream === undefined ? process.stdout : options.stream;
  if (typeof stream !== "object" || stream === null || typeof stream.write !== "function") {
    throw new ValidationError(
      `consoleProgress stream must have a write method, got: ${preview(stream)}`,
    );
  }
  if (options.color !== undefined && typeof options.color !== "boolean") {
    throw new ValidationError(
      `consoleProgress color must be true or false, got: ${preview(options.color)}`,
    );
  }
  const allowed = (process.env["NO_COLOR"] ?? "") === "";
  const { color = stream.isTTY === true, errors = true, brief = false } = options;
  const { live = drawsOver(stream) } = options;
  return { stream, color: allowed && color, errors, live, brief };
}
