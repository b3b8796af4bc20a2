import type { ExecutionTrace, TraceExporter } from "../../contracts/trace.js";
import type { Awaitable } from "../../contracts/types.js";
import type { ActiveRun } from "./active-run.js";
import type { RunOutput } from "./run-output.js";
import { TaskTimeoutError } from "../../contracts/errors.js";
import { Tokens } from "../../contracts/tokens.js";
import { withTimeout } from "../../util/abort/timeouts.js";
import { askOutside } from "../../contracts/outside.js";
import { messageOf } from "../../util/errors.js";

/** Time limit in ms for exporters, and for afterRun taps of a stopped run. */
export const FINISH_LIMIT_MS = 30_000;

/** Passes the trace to every exporter. Reports a failed or slow exporter as a warning. */
export async function exportTrace(run: ActiveRun, output: RunOutput): Promise<void> {
  const exporters = exportersOf(run);
  if (exporters.length === 0) return;
  await Promise.all(
    exporters.map(async (exporter) => {
      try {
        const work = async (): Promise<void> => exportTo(exporter, output.trace);
        const call = { run: run.info, kind: "export", name: "trace" } as const;
        await finishWithin("it", askOutside(call, work));
      } catch (error) {
        run.warn(`A trace exporter failed: ${messageOf(error)}`);
      }
    }),
  );
}

/** Waits for work at the end of a run, up to the limit. @throws TaskTimeoutError. */
export function finishWithin<T>(what: string, work: Promise<T>): Promise<T> {
  const late = (): never => {
    throw new TaskTimeoutError(what, FINISH_LIMIT_MS);
  };
  return withTimeout(() => work, { ms: FINISH_LIMIT_MS, late });
}

/** Returns the configured exporters. Default: the folder of the capture mode. */
function exportersOf({ settings, capture, warn }: ActiveRun): readonly TraceExporter[] {
  const exporters = settings.all(Tokens.TraceExporter);
  const { exportsTo } = capture;
  if (exporters.length > 0 || exportsTo === undefined) return exporters;
  const toFolder = settings.find(Tokens.FolderExporter);
  if (toFolder !== undefined) return [(trace) => exportTo(toFolder(exportsTo), trace)];
  warn(
    `Capture mode '${capture.name}' exports to '${capture.exportsTo}', but nothing is bound to Tokens.FolderExporter. Add the standard plugins.`,
  );
  return exporters;
}

function exportTo(exporter: TraceExporter, trace: ExecutionTrace): Awaitable<void> {
  return typeof exporter === "function" ? exporter(trace) : exporter.export(trace);
}
