import type { LogContext, LogLevel, LogSink } from "./log-sink.js";

/** A logger of winston's kind: `log`, or methods for the levels, at least `error`, `warn`, `info` and `debug`. Levels without a method go to `log`. */
export interface WinstonLike {
  log?(level: string, message: string, context: LogContext): unknown;
  error?(message: string, context: LogContext): unknown;
  warn?(message: string, context: LogContext): unknown;
  info?(message: string, context: LogContext): unknown;
  debug?(message: string, context: LogContext): unknown;
  silly?(message: string, context: LogContext): unknown;
  /** Saves building lines that would not be written. */
  isLevelEnabled?(level: string): boolean;
}

/** What else a level may be called, in other sets of levels. */
const OTHER_NAMES: Readonly<Partial<Record<LogLevel, readonly string[]>>> = Object.freeze({
  warn: ["warning"],
  silly: ["debug"],
});

/** Writes to a logger of the user's, which stays the user's to close. */
export function userLogger(logger: WinstonLike): LogSink {
  const methods = logger as Readonly<Record<string, unknown>>; // looked at, not trusted
  const nameOf = (level: LogLevel): string | undefined =>
    [level, ...(OTHER_NAMES[level] ?? [])].find((name) => typeof methods[name] === "function");
  return {
    enabled: (level) => logger.isLevelEnabled?.(nameOf(level) ?? level) ?? true,
    write(level, message, context) {
      const name = nameOf(level);
      if (name === undefined) logger.log?.(level, message, context);
      else (methods[name] as NonNullable<WinstonLike["info"]>).call(logger, message, context); // found to be a function
    },
    close: () => Promise.resolve(),
  };
}
