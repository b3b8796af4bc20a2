import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireBoolean } from "../../../contracts/validation.js";

/** The output of progress lines: `process.stdout`, or any object with `write`. */
export interface ProgressStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  /** The size of a terminal. Default 80 and 24. */
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

/** Options of `consoleProgress`. */
export interface ConsoleProgressOptions {
  /** Default `process.stdout`. */
  readonly stream?: ProgressStream | undefined;
  /** Default: whether the stream is a terminal. The environment variable `NO_COLOR`, when not empty, turns colours off in any case. */
  readonly color?: boolean | undefined;
  /**
   * Whether the error of a failed run is printed. `false` for a program that prints it itself;
   * reasons that the error omits are still printed. Default true.
   */
  readonly errors?: boolean | undefined;
  /**
   * Whether the tasks are shown in place, one line each, instead of line after line. Default: on a
   * terminal that can overwrite lines, unless `CI` or `NO_COLOR` is set or `TERM` is `dumb`.
   */
  readonly live?: boolean | undefined;
  /**
   * Whether to print only ends: a line for each task that has ended (with `live` none), and one for
   * the run, without a table. Default false.
   */
  readonly brief?: boolean | undefined;
}

/** Whether a stream is a terminal whose lines can be overwritten. */
export function drawsOver({ isTTY }: ProgressStream): boolean {
  const { CI = "", NO_COLOR = "", TERM } = process.env;
  return isTTY === true && NO_COLOR === "" && TERM !== "dumb" && ["", "0", "false"].includes(CI);
}

/**
 * Whether the terminal of the process shows characters beyond ASCII. False on Windows with a code
 * page, and on the Linux console.
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
