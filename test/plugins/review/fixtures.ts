import type {
  AgentEnsembleError,
  AnyTask,
  AnyTool,
  EnsembleEvent,
  EnsembleOptions,
  EnsembleOutput,
  ReviewDecision,
  ReviewHandler,
  ReviewRequest,
} from "agentensemble";
import type { ScriptedToolCall } from "agentensemble/testing";
import { Ensemble, Graph, Loop, MapReduceEnsemble, Phase, Task } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";

/** The decision of the reviewer at each question, in turn. The last one is repeated. */
export type Answer = ReviewDecision | ((request: ReviewRequest) => unknown);

/** A handler with configured answers, and the received questions. */
export function person(...answers: readonly Answer[]): {
  readonly handler: ReviewHandler;
  readonly asked: readonly ReviewRequest[];
} {
  const asked: ReviewRequest[] = [];
  const handler = ((request: ReviewRequest): unknown => {
    const answer = answers[Math.min(asked.push(request), answers.length) - 1];
    return typeof answer === "function" ? answer(request) : answer;
  }) as ReviewHandler; // some tests use wrong answers
  return { handler, asked };
}

type Runnable = Pick<Ensemble, "run" | "dispose">;

/** A way to execute a task and, if possible, later tasks. */
export interface Row {
  readonly name: string;
  /** Executes `subject`; `others` counts the later tasks. */
  readonly make: (subject: AnyTask, others: AnyTask, options: EnsembleOptions) => Runnable;
  /** The number of executions of `subject` without an early end. Default 1. */
  readonly visits?: number;
}

function delegating(calls: readonly ScriptedToolCall[]): ScriptedModel {
  return new ScriptedModel([...calls.map((call) => ({ toolCalls: [call] })), "managed"]);
}

function underManager(subject: AnyTask, others: AnyTask, options: EnsembleOptions): Ensemble {
  const call = (agentRole: string, taskNumber: number): ScriptedToolCall => ({
    name: "delegateTask",
    arguments: { agentRole, taskDescription: "Do it", taskNumber },
  });
  return new Ensemble({
    workflow: "HIERARCHICAL",
    tasks: [subject, others],
    managerModel: delegating([call("subject", 1), call("others", 2)]),
    ...options,
  });
}

/** An agent that delegates its task; its colleague executes the subject. */
function byDelegate(subject: AnyTask, others: AnyTask, options: EnsembleOptions): Ensemble {
  const first = new Task({
    description: "Delegates",
    handler: {
      name: "hand-on",
      description: "Runs the subject inside another task",
      execute: async (_input: unknown, { scope }) =>
        (
          await scope.runTask(scope.define(subject, { parentTaskId: scope.taskId }), {
            parentTaskId: scope.taskId,
          })
        ).raw,
    } satisfies AnyTool,
  });
  return new Ensemble({ tasks: [first, others], workflow: "SEQUENTIAL", ...options });
}

function inPhases(subject: AnyTask, others: AnyTask, options: EnsembleOptions): Ensemble {
  const first = new Phase({ name: "one", tasks: [subject] });
  return new Ensemble({
    phases: [first, new Phase({ name: "two", tasks: [others], after: [first] })],
    ...options,
  });
}

const graphOf = (subject: AnyTask, others: AnyTask): Graph =>
  new Graph<string>({
    name: "graph",
    states: { a: subject, b: others },
    start: "a",
    edges: [
      { from: "a", to: "b" },
      { from: "b", to: Graph.END },
    ],
  });

/** Every way to execute a task, with a following task. */
export const ROWS: readonly Row[] = [
  {
    name: "SEQUENTIAL",
    make: (a, b, o) => new Ensemble({ tasks: [a, b], workflow: "SEQUENTIAL", ...o }),
  },
  {
    name: "PARALLEL",
    make: (a, b, o) =>
      new Ensemble({ tasks: [a, b.with({ context: [a] })], workflow: "PARALLEL", ...o }),
  },
  { name: "PHASES", make: inPhases },
  {
    name: "a phase under PARALLEL",
    make: (a, b, o) =>
      new Ensemble({
        phases: [
          new Phase({ name: "one", tasks: [a, b.with({ context: [a] })], workflow: "PARALLEL" }),
        ],
        ...o,
      }),
  },
  {
    name: "LOOP",
    visits: 2,
    make: (a, b, o) =>
      new Ensemble({ loops: [new Loop({ name: "loop", tasks: [a, b], maxIterations: 2 })], ...o }),
  },
  {
    name: "a loop before a loop",
    make: (a, b, o) =>
      new Ensemble({
        loops: [
          new Loop({ name: "one", tasks: [a], maxIterations: 1 }),
          new Loop({ name: "two", tasks: [b], maxIterations: 1 }),
        ],
        ...o,
      }),
  },
  { name: "GRAPH", make: (a, b, o) => new Ensemble({ graph: graphOf(a, b), ...o }) },
  { name: "HIERARCHICAL", make: underManager },
  { name: "a task inside a task", make: byDelegate },
  {
    name: "MAP_REDUCE",
    make: (a, b, o) =>
      new MapReduceEnsemble({
        items: [1],
        mapTask: () => a,
        reduceTask: (context) => b.with({ context }),
        ...o,
      }),
  },
  {
    name: "MAP_REDUCE_ADAPTIVE",
    make: (a, b, o) =>
      new MapReduceEnsemble({
        items: [1],
        mapTask: () => a,
        reduceTask: (context) => b.with({ context }),
        targetTokenBudget: 1_000,
        ...o,
      }),
  },
];

/** The result of a run. */
export interface RowResult {
  readonly output: EnsembleOutput;
  readonly events: readonly EnsembleEvent[];
  readonly error: AgentEnsembleError | undefined;
}

/** Runs a row, and returns the result. */
export async function runRow(
  row: Row,
  subject: AnyTask,
  others: AnyTask,
  options: EnsembleOptions,
): Promise<RowResult> {
  const events: EnsembleEvent[] = [];
  const ensemble = row.make(subject, others, {
    ...options,
    on: (event) => void events.push(event),
  });
  try {
    const output = await ensemble.run({}, { throwOnError: false });
    return { output, events, error: output.error };
  } finally {
    await ensemble.dispose();
  }
}
