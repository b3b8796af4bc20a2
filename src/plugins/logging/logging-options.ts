import type { WinstonLike } from "./user-logger.js";
import { ValidationError } from "../../contracts/errors.js";
import { checkOptions, knownNames, preview } from "../../contracts/validation.js";

/** Options of `winstonLogging`. */
export interface WinstonLoggingOptions {
  /**
   * The lowest level that is written. `debug` adds prompts, `silly` adds complete answers. Not
   * allowed together with `logger`, which has its own level. Default `info`.
   */
  readonly level?: "error" | "warn" | "info" | "http" | "verbose" | "debug" | "silly" | undefined;
  /** The logger. The plugin does not close it. Default: a logger that writes to standard error. */
  readonly logger?: WinstonLike | undefined;
}

const LEVELS: readonly string[] = Object.freeze([
  "error",
  "warn",
  "info",
  "http",
  "verbose",
  "debug",
  "silly",
]);

function isLogger(logger: unknown): boolean {
  if (typeof logger !== "object" || logger === null) return false;
  const methods = logger as Readonly<Record<string, unknown>>; // each field is checked
  return (
    typeof methods["log"] === "function" ||
    ["error", "warn", "info", "debug"].every((level) => typeof methods[level] === "function")
  );
}

/** Applies the defaults. @throws ValidationError for an unknown option or a value out of range. */
export function resolveWinstonLoggingOptions(options: WinstonLoggingOptions): {
  readonly level: string;
  readonly logger: WinstonLike | undefined;
} {
  checkOptions("winstonLogging", options, ["level", "logger"]);
  const { level, logger } = options;
  if (level !== undefined && !LEVELS.includes(level))
    throw new ValidationError(
      `Unknown level ${preview(level)} in winstonLogging. ${knownNames(String(level), LEVELS)}`,
    );
  if (logger === undefined) return { level: level ?? "info", logger };
  if (level !== undefined)
    throw new ValidationError(
      "winstonLogging takes level or logger, not both: a logger has its own level",
      { hint: "Set the level of the logger." },
    );
  if (!isLogger(logger))
    throw new ValidationError(
      `winstonLogging logger must have a method log, or error, warn, info and debug, got: ${preview(logger)}`,
    );
  return { level: "info", logger };
}
