import type { Plugin } from "../../../contracts/plugin.js";
import type { ConsoleProgressOptions } from "./console-options.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { resolveConsoleProgressOptions, showsUnicode } from "./console-options.js";
import { FOLLOWED, LiveProgress } from "./live-progress.js";
import { hasRegion } from "./live-region.js";
import { ProgressPrinter, SHOWN } from "./progress-printer.js";
import { painter } from "./terminal-text.js";

export type { ConsoleProgressOptions, ProgressStream } from "./console-options.js";

/**
 * Shows the progress of runs on the console. On a terminal, each task has one line that is updated
 * in place. A line above them shows the time, the tokens and the cost so far. Output of the program
 * appears above these lines. They are removed at the end. Without a terminal, each start, end or
 * failure of a task is a line. Each tool call, retry and warning is also a line. Each run ends with
 * a table, or with one line if `brief` is set. Colours are used on a terminal only. Answers are not
 * printed. The lines of concurrent runs contain the id of the run.
 * @throws ValidationError for an unknown option or a stream without `write`.
 */
export function consoleProgress(options: ConsoleProgressOptions = {}): Plugin {
  const { stream, color, errors, live, brief } = resolveConsoleProgressOptions(options);
  const paint = painter(color);
  let view: LiveProgress | undefined;
  return definePlugin({
    name: "observability-console",
    apply({ events }) {
      if (live && !hasRegion(stream)) {
        const others = stream === process.stdout && process.stderr.isTTY ? [process.stderr] : [];
        const shown = (view = new LiveProgress({
          ...{ stream, others, paint, unicode: showsUnicode() },
          printer: (write) =>
            new ProgressPrinter(write, paint, { errors, brief, detail: "faults" }),
        }));
        events.on((e, redactor) => shown.handle(e, redactor), { only: [...SHOWN, ...FOLLOWED] });
        return;
      }
      const detail = brief ? "ends" : undefined;
      const write = (text: string): void => void stream.write(text);
      const printer = new ProgressPrinter(write, paint, { errors, brief, detail });
      events.on((e, redactor) => printer.handle(e, redactor), { only: SHOWN });
    },
    dispose() {
      view?.close();
    },
  });
}
