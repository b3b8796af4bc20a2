import type { Plugin } from "../../../contracts/plugin.js";
import type { ConsoleProgressOptions } from "./console-options.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { resolveConsoleProgressOptions } from "./console-options.js";
import { ProgressPrinter, SHOWN } from "./progress-printer.js";
import { painter } from "./terminal-text.js";

export type { ConsoleProgressOptions, ProgressStream } from "./console-options.js";

/**
 * Shows on the console how runs get on: a line when a task starts, ends or fails, for every tool call, retry and warning, and a table at the end of
 * each run. Colours only on a terminal. Answers themselves are not printed. Where several runs are in progress, their lines have the run's id.
 * @throws ValidationError for an unknown option or a stream without `write`.
 */
export function consoleProgress(options: ConsoleProgressOptions = {}): Plugin {
  const { stream, color, errors } = resolveConsoleProgressOptions(options);
  return definePlugin({
    name: "observability-console",
    apply({ events }) {
      const printer = new ProgressPrinter(
        (text) => void stream.write(text),
        painter(color),
        errors,
      );
      events.on((e, redactor) => printer.handle(e, redactor), { only: SHOWN });
    },
  });
}
