import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireBoolean } from "../../../contracts/validation.js";

/** Where progress lines go: `process.stdout`, or anything with `write`. */
export interface ProgressStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
}

/** Options of `consoleProgress`. */
export interface ConsoleProgressOptions {
  /** Default `process.stdout`. */
  readonly stream?: ProgressStream | undefined;
  /** Default: whether the stream is a terminal. The environment variable `NO_COLOR`, when not empty, turns colours off in any case. */
  readonly color?: boolean | undefined;
  /** Whether the error of a failed run is printed. `false` for a program that prints it itself; reasons that the error leaves out are printed all the same. Default true. */
  readonly errors?: boolean | undefined;
}

/** Applies the defaults. @throws ValidationError for what does not fit. */
export function resolveConsoleProgressOptions(options: ConsoleProgressOptions): {
  readonly stream: ProgressStream;
  readonly color: boolean;
  readonly errors: boolean;
} {
  checkOptions("consoleProgress", options, ["stream", "color", "errors"]);
  requireBoolean("consoleProgress errors", options.errors);
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
  const { color = stream.isTTY === true, errors = true } = options;
  return { stream, color: allowed && color, errors };
}
