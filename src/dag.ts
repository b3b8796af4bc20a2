import type { Agent } from "./contracts/agent.js";
import type { Dag, DagEdge, DagTask } from "./contracts/dag.js";
import type { AnyGraph, EnsembleOptions } from "./contracts/ensemble-options.js";
import type { GraphEdge } from "./contracts/graph.js";
import type { Phase } from "./contracts/phase.js";
import type { Plan, PlannedTask } from "./contracts/plan.js";
import type { AnyTask } from "./contracts/task.js";
import type { AgentSummary } from "./contracts/trace.js";
import type { OrderedStep } from "./dag-levels.js";
import { Graph } from "./contracts/graph.js";
import { Loop } from "./contracts/loop.js";
import { isTool } from "./contracts/tool.js";
import { criticalPathOf, levelsOf } from "./dag-levels.js";
import { createPlan, inferWorkflow } from "./kernel/plan.js";
import { roleFor } from "./plugins/agents/synthesis/template-synthesizer.js";
import { parallelWorkflow } from "./plugins/workflows/parallel/parallel-workflow.js";
import { sequentialWorkflow } from "./plugins/workflows/sequential/sequential-workflow.js";

type Facts = Omit<DagTask, "parallelGroup" | "onCriticalPath">;
interface Step extends OrderedStep {
  readonly facts: Facts;
}

/**
 * The diagram of an ensemble. Pure: plans as `run()` does, but leaves the texts as they were written, and looks at no kernel, so that names of workflows
 * and models are not checked. @throws ValidationError for tasks that can't be put into an order.
 */
export function dagOf(options: EnsembleOptions): Dag {
  const { plan } = createPlan(options, undefined);
  const workflow = inferWorkflow(options);
  for (const known of [sequentialWorkflow, parallelWorkflow])
    if (known.name === workflow) known.validate?.(plan);
  const steps = plan.graph === undefined ? stepsOf(plan, workflow) : statesOf(plan);
  const levels = levelsOf(steps);
  const criticalPath = plan.graph === undefined ? criticalPathOf(steps, levels) : [];
  const critical = new Set(criticalPath);
  const groups: string[][] = [];
  const tasks = steps.map(({ id, facts }): DagTask => {
    const parallelGroup = levels.get(id) ?? 0;
    (groups[parallelGroup] ??= []).push(id);
    return { ...facts, parallelGroup, onCriticalPath: critical.has(id) };
  });
  return {
    schemaVersion: "1.3",
    type: "dag",
    workflow,
    agents: agentsOf(plan),
    tasks,
    parallelGroups: groups,
    criticalPath,
    ...(plan.tasks.some(({ mapReduce }) => mapReduce !== undefined)
      ? { mapReduceMode: "STATIC" as const }
      : {}),
    ...(plan.graph === undefined
      ? {}
      : {
          mode: "graph" as const,
          graphEdges: edgesOf(plan.graph),
          graphStartStateId: stateId(plan.graph, plan.graph.start as string),
        }),
  };
}

/** Who will do a task, as far as that is known before the run. */
function roleOf(task: AnyTask, { agentSynthesizer }: EnsembleOptions): string {
  if (task.handler !== undefined) return "(deterministic)";
  return (
    task.agent?.role ??
    (agentSynthesizer === undefined ? roleFor(task.description) : "(synthesized)")
  );
}

function factsOf({ id, spec, contextIds, mapReduce }: PlannedTask, plan: Plan): Facts {
  const { description, expectedOutput } = spec;
  return {
    id,
    description,
    expectedOutput,
    agentRole: roleOf(spec, plan.options),
    dependsOn: contextIds,
    ...mapReduce,
  };
}

/** Tasks, loops and phases, each with what it waits for. */
function stepsOf(plan: Plan, workflow: string): readonly Step[] {
  if (plan.phases.length > 0) return phaseSteps(plan);
  const owners = new Map(
    plan.tasks.map(({ id, group }) => [id, group instanceof Loop ? loopId(group) : id]),
  );
  const listed = plan.tasks.filter(({ group }) => !(group instanceof Loop));
  const steps: Step[] = [
    ...listed.map((task): Step => ({
      id: task.id,
      after: task.contextIds.map((id) => owners.get(id) ?? id),
      facts: factsOf(task, plan),
    })),
    ...plan.loops.map((loop) => loopStep(plan, loop, owners)),
  ];
  return workflow === "SEQUENTIAL" ? inSequence(steps) : steps;
}

const loopId = (loop: Loop): string => `$loop:${loop.name}`;

function loopStep(plan: Plan, loop: Loop, owners: ReadonlyMap<string, string>): Step {
  const id = loopId(loop);
  const after = [
    ...new Set(loop.context.flatMap((task) => owners.get(plan.idOf(task) ?? "") ?? [])),
  ];
  const body = plan.tasks.filter(({ group }) => group === loop);
  const loopBody = body.map((task, parallelGroup): DagTask => ({
    ...factsOf(task, plan),
    parallelGroup,
    onCriticalPath: false,
  }));
  const facts = {
    id,
    description: loop.name,
    expectedOutput: "",
    agentRole: "(loop)",
    dependsOn: after,
    nodeType: "loop" as const,
    loopMaxIterations: loop.maxIterations,
    loopBody,
  };
  return { id, after, facts };
}

/** Every task of a phase waits for all tasks of the phases before it, and the review for the phase's own. */
function phaseSteps(plan: Plan): readonly Step[] {
  const idsOf = (phase: Phase): string[] =>
    plan.tasks
      .filter(({ group }) => group === phase || (group !== undefined && group === phase.review))
      .map(({ id }) => id);
  return plan.phases.flatMap((phase) => {
    const before = phase.after.flatMap(idsOf);
    const own = plan.tasks.filter(({ group }) => group === phase);
    const steps = own.map((task): Step => ({
      id: task.id,
      after: [...task.contextIds, ...before],
      facts: { ...factsOf(task, plan), phase: phase.name },
    }));
    const ordered =
      (phase.workflow ?? plan.options.workflow ?? "SEQUENTIAL") === "SEQUENTIAL"
        ? inSequence(steps)
        : steps;
    const review = plan.tasks.find(({ group }) => group !== undefined && group === phase.review);
    if (review === undefined) return ordered;
    const dependsOn = own.map(({ id }) => id);
    return [
      ...ordered,
      {
        id: review.id,
        after: dependsOn,
        facts: {
          ...factsOf(review, plan),
          dependsOn,
          nodeType: "review" as const,
          phase: phase.name,
        },
      },
    ];
  });
}

function inSequence(steps: readonly Step[]): readonly Step[] {
  return steps.map((step, i) => ({
    ...step,
    after: [...step.after, ...steps.slice(Math.max(0, i - 1), i).map(({ id }) => id)],
  }));
}

const stateId = (graph: AnyGraph, state: string): string =>
  state === Graph.END ? state : `${graph.name}/${state}`;

/** States run one at a time and may come again, so each has a group of its own and no order but that of the declaration. */
function statesOf(plan: Plan): readonly Step[] {
  return inSequence(
    plan.tasks.map((task): Step => ({
      id: task.id,
      after: [],
      facts: { ...factsOf(task, plan), nodeType: "graph-state" },
    })),
  );
}

/** States are named by strings, whatever the type of the graph knows of them. */
function edgesOf(graph: AnyGraph): readonly DagEdge[] {
  return (graph.edges as readonly GraphEdge<string>[]).map((edge) => ({
    fromStateId: stateId(graph, edge.from),
    toStateId: stateId(graph, edge.to),
    conditionDescription: edge.label ?? (edge.when === undefined ? "unconditional" : "predicate"),
    unconditional: edge.when === undefined,
    fired: false,
  }));
}

/** The agents that are known, workers first, each once. */
function agentsOf(plan: Plan): readonly AgentSummary[] {
  const agents = new Set<Agent>([
    ...(plan.options.agents ?? []),
    ...plan.tasks.flatMap(({ agent }) => agent ?? []),
  ]);
  return [...agents].map(({ role, goal, background, tools, allowDelegation }) => ({
    role,
    goal,
    background,
    toolNames: tools.flatMap((tool) => (isTool(tool) ? [tool.name] : [])),
    allowDelegation,
  }));
}
