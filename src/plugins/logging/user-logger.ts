import type { LogContext, LogLevel, LogSink } from "./log-sink.js";

/**
 * A logger with the interface of winston. It has `log`, or a method for each level: at least
 * `error`, `warn`, `info` and `debug`. Levels without a method use `log`.
 */
export interface WinstonLike {
  log?(level: string, message: string, context: LogContext): unknown;
  error?(message: string, context: LogContext): unknown;
  warn?(message: string, context: LogContext): unknown;
  info?(message: string, context: LogContext): unknown;
  debug?(message: string, context: LogContext): unknown;
  silly?(message: string, context: LogContext): unknown;
  /** Returns whether a level is written, so that no unused lines are built. */
  isLevelEnabled?(level: string): boolean;
}

/** Alternative names of levels, in other sets of levels. */
const OTHER_NAMES: Readonly<Partial<Record<LogLevel, readonly string[]>>> = Object.freeze({
  warn: ["warning"],
  silly: ["debug"],
});

/** Writes to the logger of the user, which the user closes. */
export function userLogger(logger: WinstonLike): LogSink {
  const methods = logger as Readonly<Record<string, unknown>>; // each field is checked
  const nameOf = (level: LogLevel): string | undefined =>
    [level, ...(OTHER_NAMES[level] ?? [])].find((name) => typeof methods[name] === "function");
  return {
    enabled: (level) => logger.isLevelEnabled?.(nameOf(level) ?? level) ?? true,
    write(level, message, context) {
      const name = nameOf(level);
      if (name === undefined) logger.log?.(level, message, context);
      // The method was checked to be a function.
      else (methods[name] as NonNullable<WinstonLike["info"]>).call(logger, message, context);
    },
    close: () => Promise.resolve(),
  };
}
