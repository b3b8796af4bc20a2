import type { ModelRef, Plugin } from "agentensemble";
import type { ConsoleProgressOptions } from "agentensemble/observability";
import type { Document } from "./documents.js";
import type { CheckReport } from "./tasks.js";
import { Ensemble, type Task } from "agentensemble";
import { consoleProgress, jsonTraceExporter } from "agentensemble/observability";
import { checkTask, extractTask, readTask, writeTask } from "./tasks.js";

/** What the team works with, and where its progress and its trace go. */
export interface TeamOptions {
  readonly model: ModelRef;
  readonly traceFile: string;
  readonly progress?: ConsoleProgressOptions | undefined;
  /** Added at the end, for instance `recordings(file)` of an evaluation. */
  readonly plugins?: readonly Plugin[] | undefined;
}

/** The ensemble, and the tasks whose outputs are wanted. */
export interface BriefingTeam {
  readonly ensemble: Ensemble;
  readonly briefing: Task;
  /** The tasks that read, by the name of their document. */
  readonly reads: ReadonlyMap<string, Task>;
  readonly check: Task<CheckReport>;
}

/**
 * For each document a task that reads it and one that extracts its findings, side by side; then one agent writes, and plain code checks.
 * The order follows from the `context` of the tasks.
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
