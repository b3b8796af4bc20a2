import type { ModelRef, Plugin } from "agentensemble";
import type { ConsoleProgressOptions } from "agentensemble/observability";
import type { Document } from "./documents.js";
import type { CheckReport } from "./tasks.js";
import { Ensemble, type Task } from "agentensemble";
import { consoleProgress, jsonTraceExporter } from "agentensemble/observability";
import { checkTask, extractTask, readTask, writeTask } from "./tasks.js";

/** The model of the team, and the outputs for its progress and trace. */
export interface TeamOptions {
  readonly model: ModelRef;
  readonly traceFile: string;
  readonly progress?: ConsoleProgressOptions | undefined;
  /** Plugins added at the end, for example `recordings(file)` of an evaluation. */
  readonly plugins?: readonly Plugin[] | undefined;
}

/** The ensemble, and the tasks whose outputs are used. */
export interface BriefingTeam {
  readonly ensemble: Ensemble;
  readonly briefing: Task;
  /** The tasks that read a document, by the name of the document. */
  readonly reads: ReadonlyMap<string, Task>;
  readonly check: Task<CheckReport>;
}

/**
 * Creates two tasks for each document: one reads it, the other extracts its findings. These tasks
 * run in parallel. Then one agent writes the briefing, and a handler checks it. The order follows
 * from the `context` of the tasks.
 */
export function briefingTeam(
  documents: readonly Document[],
  { model, traceFile, progress, plugins = [] }: TeamOptions,
): BriefingTeam {
  const pages = documents.map((document) => ({ document, read: readTask(document) }));
  const extracts = pages.map(extractTask);
  const briefing = writeTask(pages, extracts);
  const check = checkTask(pages, briefing);
  const ensemble = new Ensemble({
    model,
    tasks: [...pages.map(({ read }) => read), ...extracts, briefing, check],
    maxConcurrency: 4,
    plugins: [consoleProgress({ errors: false, brief: true, ...progress }), ...plugins],
    traceExporter: jsonTraceExporter({ file: traceFile }),
  });
  const reads = new Map(pages.map(({ document, read }) => [document.name, read]));
  return { ensemble, briefing, reads, check };
}
