import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import { ValidationError } from "../contracts/errors.js";
import { Graph } from "../contracts/graph.js";
import { Loop } from "../contracts/loop.js";
import { Phase, predecessorsOf } from "../contracts/phase.js";
import { preview, requireArray } from "../contracts/validation.js";

function requireInstances(
  what: string,
  values: readonly unknown[] | undefined,
  type: typeof Phase | typeof Loop,
): void {
  requireArray(`Ensemble ${what}`, values);
  values?.forEach((value, i) => {
    if (!(value instanceof type))
      throw new ValidationError(
        `Ensemble ${what}[${i}] must be a ${type.name}, got: ${preview(value)}`,
      );
  });
}

/**
 * Refuses a combination of tasks, phases, loops and a graph that one ensemble can't have.
 * @throws ValidationError
 */
export function checkShape(o: EnsembleOptions): void {
  requireInstances("phases", o.phases, Phase);
  requireInstances("loops", o.loops, Loop);
  if (o.graph !== undefined && !(o.graph instanceof Graph))
    throw new ValidationError(`Ensemble graph must be a Graph, got: ${preview(o.graph)}`);
  const problem = problemOfGraph(o) ?? problemOfMix(o);
  if (problem !== undefined) throw new ValidationError(problem);
  checkNames("loop", "Loop", o.loops ?? []);
  checkNames("phase", "Phase", o.phases ?? []);
  checkPhaseGraph(o.phases ?? []);
}

/** Returns why a graph can't be combined with the other options. */
function problemOfGraph(o: EnsembleOptions): string | undefined {
  const { tasks = [], phases = [], loops = [], graph, workflow } = o;
  if (graph === undefined) return undefined;
  if (tasks.length + phases.length + loops.length > 0)
    return "An ensemble with `graph` can't have `tasks`, `loops` or `phases` too: a graph decides the whole order.";
  return workflow === undefined
    ? undefined
    : `Workflow.${workflow} does not support a Graph. Leave \`workflow\` out of an ensemble with a \`graph\`.`;
}

function problemOfMix(o: EnsembleOptions): string | undefined {
  const { tasks = [], phases = [], loops = [], workflow } = o;
  if (phases.length > 0 && tasks.length > 0)
    return "An ensemble can't have both `tasks` and `phases`. Put all tasks into phases, or list them without phases.";
  if (phases.length > 0 && loops.length > 0)
    return "An ensemble can't have both `loops` and `phases`. Use loops together with `tasks`, or phases alone.";
  return loops.length > 0 && workflow === "HIERARCHICAL"
    ? "Workflow.HIERARCHICAL does not support Loop nodes. Use Workflow.SEQUENTIAL or Workflow.PARALLEL when declaring loops."
    : undefined;
}

function checkNames(
  kind: string,
  title: string,
  items: readonly { readonly name: string }[],
): void {
  const names = new Set<string>();
  for (const { name } of items) {
    if (names.has(name))
      throw new ValidationError(
        `Duplicate ${kind} name '${name}' detected. ${title} names must be unique within an ensemble.`,
      );
    names.add(name);
  }
}

function checkPhaseGraph(phases: readonly Phase[]): void {
  const owner = new Map(
    phases.flatMap((phase) => phase.tasks.map((task) => [task, phase] as const)),
  );
  for (const phase of phases) {
    const before = predecessorsOf(phase);
    for (const other of before) {
      if (!phases.includes(other))
        throw new ValidationError(
          `Phase '${phase.name}' comes after phase '${other.name}', which is not in the ensemble's phases`,
        );
    }
    for (const task of phase.tasks) {
      for (const context of task.context) {
        const source = owner.get(context);
        if (source === undefined || source === phase || before.has(source)) continue;
        throw new ValidationError(
          `Task '${task.description}' in phase '${phase.name}' references context task '${context.description}' of phase '${source.name}', which is not a predecessor`,
          {
            hint: `Add phase '${source.name}' to the phase's \`after\`.`,
          },
        );
      }
    }
  }
}
