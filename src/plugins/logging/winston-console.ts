import type { LogSink } from "./log-sink.js";
import { printableJson } from "../../util/printable.js";

/**
 * A winston logger that writes to standard error: `{instant} {level} {message} {context as JSON}`.
 * Loads winston.
 */
export async function winstonConsole(level: string): Promise<LogSink> {
  const { default: winston } = await import("winston");
  const logger = winston.createLogger({
    level,
    // Further lines are indented, so that no text can imitate a separate line.
    format: winston.format.printf(
      ({ at, level: name, message, context }) =>
        `${String(at)} ${name} ${String(message).replaceAll("\n", "\n    ")} ${printableJson(JSON.stringify(context))}`,
    ),
    transports: [
      new winston.transports.Console({ stderrLevels: Object.keys(winston.config.npm.levels) }),
    ],
  });
  return {
    enabled: (name) => logger.isLevelEnabled(name),
    write: (name, message, context, at) => void logger.log(name, message, { context, at }),
    close: () =>
      new Promise((resolve) => {
        logger.once("finish", resolve);
        logger.end();
      }),
  };
}
