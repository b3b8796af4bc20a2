import type { OutputLookup } from "./loop.js";
import type { TaskOutput } from "./output.js";
import type { AnyTask } from "./task.js";
import { ValidationError } from "./errors.js";
import { requireOneOf } from "./loop.js";
import { Task } from "./task.js";
import {
  checkOptions,
  preview,
  requireArray,
  requireFunction,
  requireInteger,
} from "./validation.js";

/** The argument of an edge's predicate. */
export interface GraphStep<S extends string = string> extends OutputLookup {
  readonly currentState: S;
  readonly lastOutput: TaskOutput;
  /** Counted from 1. */
  readonly stepNumber: number;
  /** The states visited so far, ending with the current state. */
  readonly stateHistory: readonly S[];
}

/** The course of a graph in a run. */
export interface GraphHistory {
  readonly steps: readonly {
    readonly stateName: string;
    readonly stepNumber: number;
    readonly output: TaskOutput;
    readonly nextState: string;
  }[];
  readonly terminationReason: "terminal" | "maxSteps";
  readonly stoppedByMaxSteps: boolean;
}

/**
 * A transition from one state to another. An edge without `when` always matches. The edges of a
 * state are tried in order.
 */
export interface GraphEdge<S extends string = string> {
  readonly from: S;
  readonly to: S | "__END__";
  readonly when?: ((s: GraphStep<S>) => boolean) | undefined;
  /** The label in messages and diagrams. Default: none. */
  readonly label?: string | undefined;
}

/** Options of a graph. The compiler checks state names. */
export interface GraphOptions<S extends string> {
  readonly name: string;
  readonly states: Readonly<Record<S, AnyTask>>;
  readonly start: NoInfer<S>;
  readonly edges: readonly {
    readonly from: NoInfer<S>;
    readonly to: NoInfer<S> | "__END__";
    readonly when?: ((s: GraphStep<NoInfer<S>>) => boolean) | undefined;
    readonly label?: string | undefined;
  }[];
  /** Limit of executed states. Default 50. */
  readonly maxSteps?: number | undefined;
  /**
   * Reaction to the limit. RETURN_LAST (default) ends the graph with its last output. THROW fails
   * the run with MaxGraphStepsExceededError. RETURN_WITH_FLAG equals RETURN_LAST and documents that
   * the program reads the termination reason.
   */
  readonly onMaxSteps?: "RETURN_LAST" | "THROW" | "RETURN_WITH_FLAG" | undefined;
  /** Whether a state that is visited again receives its last output. Default true. */
  readonly injectFeedbackOnRevisit?: boolean | undefined;
  readonly noFeedbackStates?: readonly NoInfer<S>[] | undefined;
}

const FIELDS = [
  "name",
  "states",
  "start",
  "edges",
  "maxSteps",
  "onMaxSteps",
  "injectFeedbackOnRevisit",
  "noFeedbackStates",
];
const END = "__END__";

/**
 * A state machine of tasks. The task of each state runs alone. The first matching edge then selects
 * the next state. Immutable.
 */
export class Graph<S extends string = string> {
  static readonly END = END;
  readonly name: string;
  readonly states: Readonly<Record<S, AnyTask>>;
  readonly start: S;
  readonly edges: readonly GraphEdge<S>[];
  readonly maxSteps: number;
  readonly onMaxSteps: "RETURN_LAST" | "THROW" | "RETURN_WITH_FLAG";
  readonly injectFeedbackOnRevisit: boolean;
  readonly noFeedbackStates: readonly S[];

  /** @throws ValidationError */
  constructor(o: GraphOptions<S>) {
    checkOptions("Graph", o, FIELDS);
    if (typeof o.name !== "string" || o.name.trim() === "")
      throw new ValidationError("Graph name must be non-blank");
    const states = checkStates(o.name, o.states);
    checkStart(o.name, o.start, states);
    checkEdges(o.name, o.edges, states);
    requireInteger(`Graph '${o.name}' maxSteps`, o.maxSteps, 1);
    requireOneOf(`Graph '${o.name}' onMaxSteps`, o.onMaxSteps, [
      "RETURN_LAST",
      "THROW",
      "RETURN_WITH_FLAG",
    ]);
    requireArray(`Graph '${o.name}' noFeedbackStates`, o.noFeedbackStates);
    for (const state of o.noFeedbackStates ?? []) {
      if (!states.includes(state))
        throw new ValidationError(
          `Graph '${o.name}' noFeedbackStates names '${state}', which is not a declared state. Known: [${states.join(", ")}]`,
        );
    }
    this.name = o.name;
    this.states = Object.freeze({ ...o.states });
    this.start = o.start;
    this.edges = Object.freeze(o.edges.map((edge) => Object.freeze({ ...edge })));
    this.maxSteps = o.maxSteps ?? 50;
    this.onMaxSteps = o.onMaxSteps ?? "RETURN_LAST";
    this.injectFeedbackOnRevisit = o.injectFeedbackOnRevisit ?? true;
    this.noFeedbackStates = Object.freeze([...(o.noFeedbackStates ?? [])]);
    Object.freeze(this);
  }
}

function checkStates(graph: string, states: unknown): string[] {
  if (typeof states !== "object" || states === null || Object.keys(states).length === 0)
    throw new ValidationError(`Graph '${graph}' must declare at least one state`);
  for (const [name, task] of Object.entries(states)) {
    if (name.trim() === "")
      throw new ValidationError(`Graph '${graph}' state name must be non-blank`);
    if (name === END)
      throw new ValidationError(`Graph '${graph}' state name '${END}' is reserved for Graph.END`);
    if (!(task instanceof Task))
      throw new ValidationError(
        `Graph '${graph}' state '${name}' must have a Task, got: ${preview(task)}`,
      );
  }
  return Object.keys(states);
}

function checkStart(graph: string, start: unknown, states: readonly string[]): void {
  if (typeof start !== "string" || start.trim() === "")
    throw new ValidationError(`Graph '${graph}' must declare a start state via .start(name)`);
  if (!states.includes(start))
    throw new ValidationError(
      `Graph '${graph}' start state '${start}' is not a declared state. Known: [${states.join(", ")}]`,
    );
}

function checkEdges(graph: string, edges: unknown, states: readonly string[]): void {
  if (!Array.isArray(edges))
    throw new ValidationError(`Graph '${graph}' edges must be an array, got: ${preview(edges)}`);
  const known = `Known: [${states.join(", ")}]`;
  (edges as readonly GraphEdge[]).forEach((edge, i) => {
    checkOptions(`Graph '${graph}' edge[${i}]`, edge, ["from", "to", "when", "label"]);
    if (edge.from === END)
      throw new ValidationError(`Graph '${graph}' edge[${i}] 'from' must not be Graph.END`);
    if (!states.includes(edge.from))
      throw new ValidationError(
        `Graph '${graph}' edge[${i}] 'from' = '${edge.from}' is not a declared state. ${known}`,
      );
    if (edge.to !== END && !states.includes(edge.to))
      throw new ValidationError(
        `Graph '${graph}' edge[${i}] 'to' = '${edge.to}' is neither Graph.END nor a declared state. ${known}`,
      );
    requireFunction(`Graph '${graph}' edge[${i}] 'when'`, edge.when);
  });
  const stuck = states.filter(
    (state) => !(edges as readonly GraphEdge[]).some((edge) => edge.from === state),
  );
  if (stuck.length > 0)
    throw new ValidationError(
      `Graph '${graph}' states have no outgoing edges: [${stuck.join(", ")}]`,
      {
        hint: "Lead every state somewhere, to Graph.END at least.",
      },
    );
}
