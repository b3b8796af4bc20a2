import type { Plugin } from "../../contracts/plugin.js";
import type { WinstonLoggingOptions } from "./logging-options.js";
import { definePlugin } from "../../contracts/plugin.js";
import { LOGGED } from "./event-lines.js";
import { EventLogger } from "./event-logger.js";
import { resolveWinstonLoggingOptions } from "./logging-options.js";
import { userLogger } from "./user-logger.js";
import { winstonConsole } from "./winston-console.js";

export type { LogContext } from "./log-sink.js";
export type { WinstonLoggingOptions } from "./logging-options.js";
export type { WinstonLike } from "./user-logger.js";

/**
 * Logs the progress of runs through winston: tasks, tool calls, delegations, retries and failures.
 * Prompts and answers are logged at level `debug`, or at `info` for a verbose ensemble or agent.
 * Every line contains its run, task and agent. Without this plugin, nothing is logged. winston is
 * loaded when the kernel starts, unless `logger` is set.
 *
 * @throws ValidationError for an unknown option or level, for `level` together with `logger`, and
 * for a logger without `log` and `info`.
 */
export function winstonLogging(options: WinstonLoggingOptions = {}): Plugin {
  const { level, logger } = resolveWinstonLoggingOptions(options);
  const stop: (() => unknown)[] = [];
  return definePlugin({
    name: "logging-winston",
    async start(ctx) {
      const sink = logger === undefined ? await winstonConsole(level) : userLogger(logger);
      const events = new EventLogger(sink);
      stop.push(
        () => sink.close(),
        ctx.events.on((e, redactor) => events.handle(e, redactor), { only: LOGGED }),
      );
    },
    async dispose() {
      for (const end of stop.splice(0).reverse()) await end();
    },
  });
}
