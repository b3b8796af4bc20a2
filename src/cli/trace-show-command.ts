import type { TaskView, TraceView } from "./trace-view.js";
import type { OutputTerminal } from "./terminal.js";
import type { StoreArguments } from "./store.js";
import { ValidationError } from "../contracts/errors.js";
import { knownNames } from "../contracts/validation.js";
import { ExitCode } from "./exit-codes.js";
import { readTraceFile } from "./trace-file.js";
import { taskTexts, traceTree } from "./trace-tree.js";

const FINE = new Set(["ok", "answered"]);

/** Returns a task and the tasks that it delegated. */
function withWorkers(task: TaskView): readonly TaskView[] {
  return [
    task,
    ...task.delegations.flatMap(({ worker }) => (worker === null ? [] : withWorkers(worker))),
  ];
}

/** Returns the ids of a task and of the tasks of the run that it delegated to others. */
function idsOf({ taskId, delegations }: TaskView): readonly (string | null)[] {
  return [taskId, ...delegations.map(({ workerTaskId }) => workerTaskId)];
}

/**
 * Returns tasks by their id, otherwise by the role of their agent.
 * @throws ValidationError naming the existing tasks.
 */
function tasksNamed(trace: TraceView, name: string): readonly TaskView[] {
  const all = trace.tasks.flatMap(withWorkers);
  const byId = all.filter(({ taskId }) => taskId === name);
  const found =
    byId.length > 0
      ? byId
      : all.filter(({ agentRole }) => agentRole.toLowerCase() === name.toLowerCase());
  if (found.length > 0) return found;
  throw new ValidationError(
    `The trace has no task '${name}'. ${knownNames(name, [...new Set(all.map(({ taskId }) => taskId))])}`,
  );
}

/** Returns the failures of a task. Returns `undefined` if there are none. */
function failuresOf(task: TaskView): TaskView | undefined {
  const calls = task.calls.flatMap((call) => {
    const tools = call.tools.filter(({ outcome }) => outcome !== "SUCCESS");
    return call.error !== null || call.responseType === "ERROR" || tools.length > 0
      ? [{ ...call, tools }]
      : [];
  });
  const tools = task.tools.filter(({ outcome }) => outcome !== "SUCCESS");
  const delegations = task.delegations.flatMap((delegation) => {
    const worker = delegation.worker === null ? undefined : failuresOf(delegation.worker);
    return delegation.succeeded && worker === undefined
      ? []
      : [{ ...delegation, worker: worker ?? null }];
  });
  const fine = FINE.has(task.outcome) && calls.length + tools.length + delegations.length === 0;
  return fine ? undefined : { ...task, calls, tools, delegations };
}

/** Returns the requested part of a trace. @throws ValidationError for an unknown task. */
export function partOf(
  trace: TraceView,
  o: { readonly task?: string | undefined; readonly errors?: boolean | undefined },
): TraceView {
  const tasks = o.task === undefined ? trace.tasks : tasksNamed(trace, o.task);
  const ids = new Set(tasks.flatMap(withWorkers).flatMap(idsOf));
  const errors =
    o.task === undefined
      ? trace.errors
      : trace.errors.filter(({ taskId }) => taskId !== null && ids.has(taskId));
  return {
    ...trace,
    tasks: o.errors === true ? tasks.flatMap((task) => failuresOf(task) ?? []) : tasks,
    errors,
  };
}

/** Returns the remarks on empty parts. */
function remarks({ tasks, errors }: TraceView, errorsOnly: boolean): readonly string[] {
  if (tasks.length > 0) return [];
  if (errorsOnly) return errors.length > 0 ? [] : ["Nothing went wrong."];
  return ["No task was started."];
}

/** Returns the run of a journal if a store is given, otherwise the run of a file. */
async function traceNamed(name: string, o: StoreArguments): Promise<TraceView> {
  if (o.store === undefined) return readTraceFile(name);
  const [{ Store }, { knownRun }, { keptTrace }] = await Promise.all([
    import("./store.js"),
    import("./runs-commands.js"),
    import("./kept-trace.js"),
  ]);
  const store = new Store(o);
  return store.use(async (runs) =>
    keptTrace(await knownRun(runs, name, store), await runs.entries(name)),
  );
}

/** `agentensemble trace show <file or run>`: prints the steps of a run, as a tree. */
export async function traceShowCommand(
  name: string,
  o: StoreArguments & {
    readonly task?: string;
    readonly errors?: boolean;
    readonly json?: boolean;
  },
  terminal: OutputTerminal,
): Promise<number> {
  const trace = await traceNamed(name, o);
  const part = partOf(trace, o);
  if (o.json === true) await terminal.json(part);
  else {
    const texts =
      o.task === undefined ? [] : part.tasks.map((task) => taskTexts(task, terminal.paint));
    const workers = o.errors === true ? part.tasks : trace.tasks;
    const tree = traceTree(part, terminal.paint, workers);
    await terminal.text([tree, ...remarks(part, o.errors === true), ...texts].join("\n\n"));
  }
  return ExitCode.OK;
}
