import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ExecutionTrace, LlmInteraction, TaskTrace } from "../../contracts/trace.js";
import type { EvaluationCase, EvaluationDataset } from "../evaluation-case.js";
import type { TargetRunner, TrialRequest, TrialRuns } from "../targets/trial-run.js";
import type { EvaluationSpending } from "../trial-way.js";
import { ValidationError } from "../../contracts/errors.js";
import { FileFormatError } from "../../contracts/state-errors.js";
import { checkOptions, preview, requireFunction } from "../../contracts/validation.js";
import { messageOf } from "../../util/errors.js";
import { asCount, asFields, asList, asText, type Fields } from "../../util/objects.js";
import { wayOfTasks } from "../way-of-runs.js";

/** The parts of a run's trace for a case. */
export interface StoredTrace {
  readonly runId: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** The output of the last task. Absent if the run has no output. */
  readonly output?: string | undefined;
  readonly exitReason: string;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly tasks: readonly TaskTrace[];
}

/** Traces: a folder with `*.trace.json` files, paths of files, or traces of outputs. */
export type TraceSource = string | readonly (string | ExecutionTrace)[];

/** Options for converting traces to cases. */
export interface TraceDatasetOptions<In, Out> {
  /** Returns whether a trace becomes a case. Default: true for completed runs. */
  readonly where?: ((trace: StoredTrace) => boolean) | undefined;
  /** Returns the input of the case. Default: the inputs of the run. */
  readonly input?: ((trace: StoredTrace) => In) | undefined;
  /** Returns the expected value of the case. Default: the output of the run. */
  readonly expected?: ((trace: StoredTrace) => Out | undefined) | undefined;
  /** Returns the tags of the case. Default: the tags of the run, as `name=value`. */
  readonly tags?: ((trace: StoredTrace) => readonly string[]) | undefined;
}

/** The key of the trace in the metadata of a case. */
const STORED = Symbol("stored trace");

/**
 * Creates a dataset from stored traces. The inputs and ids of the cases are the inputs and ids of
 * the runs. The expected values are the outputs of the runs.
 *
 * @throws ValidationError for invalid options; while the cases are read, FileFormatError for a file
 * that is not a trace.
 */
export function datasetFromTraces<In = Readonly<Record<string, unknown>>, Out = string>(
  source: TraceSource,
  options: TraceDatasetOptions<In, Out> = {},
): EvaluationDataset<In, Out> {
  checkOptions("datasetFromTraces()", options, ["where", "input", "expected", "tags"]);
  for (const name of ["where", "input", "expected", "tags"] as const)
    requireFunction(`datasetFromTraces() ${name}`, options[name]);
  const { where = isComplete, input, expected, tags = tagsOfTrace } = options;
  return Object.freeze({
    name: typeof source === "string" ? source : "traces",
    async *read() {
      for await (const trace of tracesOf(source)) {
        if (!where(trace)) continue;
        const wanted = expected === undefined ? trace.output : expected(trace);
        yield {
          id: trace.runId,
          input: input === undefined ? trace.inputs : input(trace),
          ...(wanted !== undefined && { expected: wanted }),
          tags: tags(trace),
          metadata: { startedAt: trace.startedAt.toISOString(), [STORED]: trace },
        } as EvaluationCase<In, Out>; // the defaults are the default types
      }
    },
  });
}

function isComplete({ exitReason, output }: StoredTrace): boolean {
  return exitReason === "COMPLETED" && output !== undefined;
}

function tagsOfTrace({ tags }: StoredTrace): readonly string[] {
  return Object.entries(tags).map(([name, value]) => `${name}=${value}`);
}

/** A target that returns the outputs of stored traces. */
export class TraceTarget implements TargetRunner {
  perform({ case: { id, metadata } }: TrialRequest, runs: TrialRuns): Promise<unknown> {
    const trace = (metadata as { readonly [STORED]?: StoredTrace } | undefined)?.[STORED];
    if (trace === undefined)
      throw new ValidationError(`The case '${preview(id)}' is of no stored trace`);
    runs.use(
      wayOfTasks([trace.runId], () => trace.tasks, spendingOfTasks(trace.tasks), trace.durationMs),
    );
    return Promise.resolve(trace.output ?? "");
  }
}

async function* tracesOf(source: TraceSource): AsyncGenerator<StoredTrace, void, void> {
  for (const one of typeof source === "string" ? await traceFilesIn(source) : source)
    yield typeof one === "string" ? await traceInFile(one) : storedTrace(one as unknown as Fields);
}

async function traceFilesIn(folder: string): Promise<readonly string[]> {
  try {
    const names = await readdir(folder);
    return names
      .filter((name) => name.endsWith(".trace.json"))
      .sort()
      .map((name) => join(folder, name));
  } catch (cause) {
    throw new ValidationError(
      `Can't read the folder of traces '${preview(folder)}': ${messageOf(cause)}`,
      { cause },
    );
  }
}

async function traceInFile(path: string): Promise<StoredTrace> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (cause) {
    throw new FileFormatError(`${path} is not a trace: ${messageOf(cause)}`, { path }, { cause });
  }
  const fields = asFields(value);
  if (fields === undefined || !Array.isArray(fields["taskTraces"]))
    throw new FileFormatError(`${path} is not a trace: it has no taskTraces`, { path });
  return storedTrace(fields);
}

/** Reads a trace or its JSON. Both have the same names for the fields used here. */
function storedTrace(trace: Fields): StoredTrace {
  const tasks = asList(trace["taskTraces"]) as readonly TaskTrace[];
  const last = tasks.findLast(
    (task) =>
      typeof task.finalOutput === "string" && (task.parentTaskId ?? undefined) === undefined,
  );
  const at = (name: string): Date => new Date(trace[name] as string | Date);
  const [startedAt, completedAt] = [at("startedAt"), at("completedAt")];
  const tags = asFields(asFields(trace["metadata"])?.["tags"]) ?? {};
  return {
    runId: asText(trace["ensembleId"]),
    inputs: asFields(trace["inputs"]) ?? {},
    ...(last?.finalOutput !== undefined && { output: last.finalOutput }),
    exitReason: asText(trace["exitReason"]),
    startedAt,
    durationMs: completedAt.getTime() - startedAt.getTime(),
    tags: tags as Readonly<Record<string, string>>, // tags are texts
    tasks,
  };
}

function spendingOfTasks(tasks: readonly TaskTrace[]): EvaluationSpending {
  const calls: LlmInteraction[] = [];
  const visit = (task: TaskTrace): void => {
    calls.push(...task.llmInteractions);
    for (const { workerTrace } of task.delegations)
      if (workerTrace !== undefined && workerTrace !== null) visit(workerTrace);
  };
  tasks.forEach(visit);
  const sum = (of: (call: LlmInteraction) => unknown): number =>
    calls.reduce((total, call) => total + (asCount(of(call)) ?? 0), 0);
  const isPriced = calls.some(({ cost }) => asCount(cost) !== undefined);
  return {
    calls: calls.length,
    answered: 0,
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    ...(isPriced && { cost: sum(({ cost }) => cost) }),
  };
}
