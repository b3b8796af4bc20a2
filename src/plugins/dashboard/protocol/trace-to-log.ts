import type { Dag } from "../../../contracts/dag.js";
import type { LogEntry } from "../../../contracts/run-store.js";
import type { JsonObject } from "./json-object.js";
import { savedTaskLines, type LinesAround, type SavedLine } from "./saved-task-lines.js";
import { instant, type SavedTask, type SavedTrace } from "./saved-trace.js";

/**
 * Creates the log of a run from its saved trace, so that the reducer of live runs can show it. A
 * trace has no waits for rate limits and retries, budgets, corrections, unfinished phases and times
 * of phases. In the log they are missing or derived from the tasks. `dag` is the diagram of the
 * run.
 */
export function traceToLog(trace: SavedTrace, dag?: Dag): readonly LogEntry[] {
  const tasks = [...savedAttempts(trace.tasks)];
  const around = linesAround(trace, tasks);
  const lines = [...savedTaskLines(trace, tasks, around), ...reviewLines(trace)];
  lines.sort((a, b) => a.ms - b.ms); // the sort is stable: lines of one instant keep their order
  return [...runBeginning(trace, dag), ...lines, ...runEnding(trace)].map(({ ms, ...line }, n) => ({
    n,
    at: instant(ms),
    ...line,
  }));
}

/** Creates the log of a run from a diagram only. Its tasks never began. */
export function dagToLog(runId: string, dag: Dag, ms: number): readonly LogEntry[] {
  const at = instant(ms);
  const [workflow, totalTasks] = [dag.workflow, dag.tasks.length];
  return [
    { type: "ensemble_started", runId, workflow, totalTasks },
    { type: "run_planned", ensemble: {}, inputs: {}, tags: {}, dag },
    { type: "ensemble_completed", exitReason: "NOT_RUN" },
  ].map((fields, n) => ({ n, at, ...fields }));
}

/**
 * Yields every attempt of every task. The attempts of workers follow the attempt that delegated to
 * them.
 */
function* savedAttempts(tasks: readonly SavedTask[]): Generator<SavedTask> {
  for (const task of tasks) {
    yield task;
    for (const { workerTrace } of task.delegations)
      if (workerTrace !== undefined) yield* savedAttempts([workerTrace]);
  }
}

function runBeginning(trace: SavedTrace, dag: Dag | undefined): readonly SavedLine[] {
  const { runId, workflow, inputs, tags, startMs: ms } = trace;
  return [
    { ms, type: "ensemble_started", runId, workflow, startedAt: instant(ms) },
    { ms, type: "run_planned", ensemble: {}, inputs, tags, ...(dag !== undefined && { dag }) },
  ];
}

function runEnding({
  endMs: ms,
  startMs,
  exitReason,
  errors,
  warnings,
}: SavedTrace): readonly SavedLine[] {
  const own = errors.findLast((error) => typeof error.raw("taskId") !== "string");
  const failure = exitReason === "ERROR" ? (own ?? errors.at(-1)) : undefined;
  return [
    ...warnings.map((message) => ({ ms, type: "run_warning", message })),
    ...(failure === undefined
      ? []
      : [{ ms, type: "run_failed", code: failure.text("code"), message: failure.text("message") }]),
    {
      ms,
      type: "ensemble_completed",
      exitReason,
      totalDurationMs: ms - startMs,
      durationMs: ms - startMs,
      completedAt: instant(ms),
    },
  ];
}

function reviewLines({ reviews, startMs }: SavedTrace): readonly SavedLine[] {
  return reviews.flatMap((review) => {
    const fields = Object.fromEntries(review.entries());
    const ms = review.instant("requestedAt", startMs);
    return [
      { ...fields, ms, type: "review_requested" },
      { ...fields, ms: review.instant("resolvedAt", ms), type: "review_resolved" },
    ];
  });
}

/** Returns the lines that loops, graphs and phases add to the attempts of tasks. */
function linesAround(
  trace: SavedTrace,
  tasks: readonly SavedTask[],
): ReadonlyMap<SavedTask, LinesAround> {
  const around = new Map(
    tasks.map((task): [SavedTask, LinesAround] => [task, { before: [], after: [] }]),
  );
  const done = new Map<string, SavedTask[]>();
  for (const task of tasks)
    if (task.outcome !== "rejected")
      done.set(task.taskId, [...(done.get(task.taskId) ?? []), task]);
  const behind = (task: SavedTask | undefined, type: string, fields: object): void => {
    if (task !== undefined) around.get(task)?.after.push({ ms: task.endMs, type, ...fields });
  };
  for (const loop of trace.loops) addLoop(loop, done, behind);
  if (trace.graph !== undefined) addGraph(trace.graph, done, behind);
  for (const phase of trace.phases) {
    const parts = phase.texts("taskIds").flatMap((id) => done.get(id) ?? []);
    const [first] = parts.toSorted((a, b) => a.startMs - b.startMs);
    const last = parts.reduce<SavedTask | undefined>(
      (latest, part) => (latest === undefined || part.endMs >= latest.endMs ? part : latest),
      undefined,
    );
    if (first === undefined || last === undefined) continue;
    const fields = { phaseName: phase.text("name"), attempt: 1 };
    around.get(first)?.before.push({ ms: first.startMs, type: "phase_started", ...fields });
    behind(last, "phase_completed", { ...fields, durationMs: last.endMs - first.startMs });
  }
  return around;
}

type Behind = (task: SavedTask | undefined, type: string, fields: object) => void;

function addLoop(
  loop: JsonObject,
  done: ReadonlyMap<string, readonly SavedTask[]>,
  behind: Behind,
): void {
  loop.values("taskIds").forEach((ids, i) => {
    const last: unknown = Array.isArray(ids) ? ids.at(-1) : undefined;
    behind(done.get(String(last))?.[i], "loop_iteration_completed", {
      loopName: loop.text("loopName"),
      iterationNumber: i + 1,
      maxIterations: loop.number("maxIterations", i + 1),
    });
  });
}

function addGraph(
  graph: JsonObject,
  done: ReadonlyMap<string, readonly SavedTask[]>,
  behind: Behind,
): void {
  const visits = new Map<string, number>();
  const graphName = graph.text("graphName");
  for (const step of graph.list("steps")) {
    const stateName = step.text("stateName");
    const visit = visits.get(stateName) ?? 0;
    visits.set(stateName, visit + 1);
    behind(done.get(`${graphName}/${stateName}`)?.[visit], "graph_state_completed", {
      graphName,
      stateName,
      stepNumber: step.number("stepNumber", 0),
      nextState: step.text("nextState"),
    });
  }
}
