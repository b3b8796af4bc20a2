import type { Agent } from "../contracts/agent.js";
import type { AgentSummary, Dag, DagTask } from "../contracts/dag.js";
import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { WorkflowExecutor } from "../contracts/executors.js";
import type { Plan, PlannedTask } from "../contracts/plan.js";
import type { PlanDescription, PlanStep } from "../contracts/plan-description.js";
import type { AnyTask } from "../contracts/task.js";
import type { EnsembleShape } from "../engine/run/prepare-run.js";
import { isTool } from "../contracts/tool.js";
import { createPlan } from "../engine/plan/plan.js";
import { roleFor } from "../plugins/agents/synthesis/template-synthesizer.js";
import { describeTasks } from "../plugins/workflows/shared/describe-tasks.js";
import { builtInWorkflows } from "./built-in-workflows.js";
import { criticalPathOf, levelsOf } from "./levels.js";

type Facts = Omit<DagTask, "parallelGroup" | "onCriticalPath">;

/** A plan, and how its workflow runs it. */
export interface DescribedPlan {
  readonly plan: Plan;
  readonly workflow: string;
  readonly description: PlanDescription;
}

/**
 * Plans as `run()` does, but leaves the texts as they were written. Looks at no kernel: names of models are not checked, and workflows of plugins are
 * described by the context of their tasks. @throws ValidationError for tasks that can't be put into an order.
 */
export function describePlan(
  options: EnsembleOptions,
  { entries, workflow }: Pick<EnsembleShape, "entries" | "workflow">,
): DescribedPlan {
  const { plan } = createPlan(options, entries, undefined);
  return describedBy(
    plan,
    builtInWorkflows().find(({ name }) => name === workflow) ?? { name: workflow },
  );
}

/** The plan as a workflow describes it; without a description every task follows its context. @throws ValidationError for tasks that can't be put into an order. */
export function describedBy(
  plan: Plan,
  workflow: Pick<WorkflowExecutor, "name" | "describe">,
): DescribedPlan {
  const description = workflow.describe?.(plan) ?? describeTasks(plan);
  return { plan, workflow: workflow.name, description };
}

/** The diagram of a plan. @throws ValidationError for tasks that can't be put into an order. */
export function dagOf({ plan, workflow, description }: DescribedPlan): Dag {
  const { steps, graph } = description;
  const levels = levelsOf(steps);
  const criticalPath = graph === undefined ? criticalPathOf(steps, levels) : [];
  const critical = new Set(criticalPath);
  const byId = new Map(plan.tasks.map((task) => [task.id, task]));
  const groups: string[][] = [];
  const tasks = steps.map((step): DagTask => {
    const { id } = step;
    const parallelGroup = levels.get(id) ?? 0;
    (groups[parallelGroup] ??= []).push(id);
    return { ...nodeOf(step, byId, plan), parallelGroup, onCriticalPath: critical.has(id) };
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
    ...(graph === undefined
      ? {}
      : {
          mode: "graph" as const,
          graphEdges: graph.edges.map((edge) => ({ ...edge, fired: false })),
          graphStartStateId: graph.start,
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

function factsOf({ id, task, contextIds, mapReduce }: PlannedTask, plan: Plan): Facts {
  const { description, expectedOutput } = task;
  return {
    id,
    description,
    expectedOutput,
    agentRole: roleOf(task, plan.options),
    dependsOn: contextIds,
    ...mapReduce,
  };
}

/** A step of the description as a node; the tasks of a loop stand in it. */
function nodeOf(step: PlanStep, tasks: ReadonlyMap<string, PlannedTask>, plan: Plan): Facts {
  const { id, nodeType, phase, title, dependsOn } = step;
  const task = tasks.get(id);
  const facts =
    task === undefined
      ? { id, description: title ?? id, expectedOutput: "", agentRole: "(loop)", dependsOn: [] }
      : factsOf(task, plan);
  return {
    ...facts,
    ...(dependsOn !== undefined && { dependsOn }),
    ...(nodeType !== undefined && { nodeType }),
    ...(phase !== undefined && { phase }),
    ...(step.body !== undefined && {
      loopMaxIterations: step.maxRuns ?? 1,
      loopBody: step.body.map((part, parallelGroup) => ({
        ...nodeOf(part, tasks, plan),
        parallelGroup,
        onCriticalPath: false,
      })),
    }),
  };
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
