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
import { MANAGER_ROLE } from "../plugins/workflows/hierarchical/team-validation.js";
import { builtInWorkflows } from "./built-in-workflows.js";
import { GRAPH_END } from "../plugins/shared/graph-end.js";
import { criticalPathOf, levelsOf } from "../plugins/shared/levels.js";
import { linksOf } from "./links.js";

type Facts = Omit<DagTask, "parallelGroup" | "onCriticalPath">;

/** A plan, and the description by its workflow. */
export interface DescribedPlan {
  readonly plan: Plan;
  readonly workflow: string;
  readonly description: PlanDescription;
}

/**
 * Plans like `run()`, but keeps the texts unchanged. Uses no kernel: names of models are not
 * checked. Workflows of plugins are described by the context of their tasks.
 * @throws ValidationError for tasks without a possible order.
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

/**
 * Returns the description of a plan by its workflow. Default: each task after the tasks in its
 * context.
 * @throws ValidationError for tasks without a possible order.
 */
export function describedBy(
  plan: Plan,
  workflow: Pick<WorkflowExecutor, "name" | "describe">,
): DescribedPlan {
  const description = workflow.describe?.(plan) ?? describeTasks(plan);
  return { plan, workflow: workflow.name, description };
}

/** Returns the diagram of a plan. @throws ValidationError for tasks without a possible order. */
export function dagOf({ plan, workflow, description }: DescribedPlan): Dag {
  const { graph, managed } = description;
  const manager = managed === true ? managerOf(plan) : undefined;
  const steps = manager === undefined ? description.steps : led(description.steps, manager.id);
  const levels = levelsOf(steps);
  const criticalPath = graph === undefined ? criticalPathOf(steps, levels) : [];
  const critical = new Set(criticalPath);
  const byId = new Map(plan.tasks.map((task) => [task.id, task]));
  const groups: string[][] = [];
  const nodes = steps.map((step) =>
    step.id === manager?.id ? manager : nodeOf(step, byId, plan, managed === true),
  );
  const tasks = [...nodes, ...(graph === undefined ? [] : [GRAPH_END])].map((node): DagTask => {
    const { id } = node;
    const parallelGroup = levels.get(id) ?? groups.length; // the end comes last
    (groups[parallelGroup] ??= []).push(id);
    return { ...node, parallelGroup, onCriticalPath: critical.has(id) };
  });
  return {
    schemaVersion: "1.3",
    type: "dag",
    workflow,
    agents: drawnAgents(plan),
    tasks,
    edges: graph === undefined ? linksOf(steps, tasks) : [],
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

/**
 * Returns the task of the manager. Its id is the id of the first task that a run adds to the plan.
 */
function managerOf({ tasks }: Plan): Facts {
  return {
    id: `task-${tasks.length + 1}`,
    description: "Assign the tasks",
    expectedOutput: "",
    agentRole: MANAGER_ROLE,
    dependsOn: [],
    nodeType: "manager",
  };
}

/** Returns the step of the manager, followed by the other steps. */
function led(steps: readonly PlanStep[], managerId: string): readonly PlanStep[] {
  const others = steps.map((step) => ({ ...step, after: [managerId, ...step.after] }));
  return [{ id: managerId, after: [] }, ...others];
}

/**
 * Returns the role of the agent of a task, as far as it is known before the run. A manager selects
 * among given agents.
 */
function roleOf(
  task: AnyTask,
  { agentSynthesizer, agents }: EnsembleOptions,
  managed: boolean,
): string {
  if (task.handler !== undefined) return "(deterministic)";
  if (task.agent !== undefined) return task.agent.role;
  if (managed && (agents ?? []).length > 0) return "(assigned)";
  return agentSynthesizer === undefined ? roleFor(task.description) : "(synthesized)";
}

function taskFacts(
  { id, task, contextIds, mapReduce }: PlannedTask,
  plan: Plan,
  managed: boolean,
): Facts {
  const { description, expectedOutput } = task;
  return {
    id,
    description,
    expectedOutput,
    agentRole: roleOf(task, plan.options, managed),
    dependsOn: contextIds,
    ...mapReduce,
  };
}

/** Returns a step of the description as a node. The node of a loop contains its tasks. */
function nodeOf(
  step: PlanStep,
  tasks: ReadonlyMap<string, PlannedTask>,
  plan: Plan,
  managed: boolean,
): Facts {
  const { id, nodeType, phase, title, dependsOn } = step;
  const task = tasks.get(id);
  const facts =
    task === undefined
      ? { id, description: title ?? id, expectedOutput: "", agentRole: "(loop)", dependsOn: [] }
      : taskFacts(task, plan, managed);
  return {
    ...facts,
    ...(dependsOn !== undefined && { dependsOn }),
    ...(nodeType !== undefined && { nodeType }),
    ...(phase !== undefined && { phase }),
    ...(step.body !== undefined && {
      loopMaxIterations: step.maxRuns ?? 1,
      loopBody: step.body.map((part, parallelGroup) => ({
        ...nodeOf(part, tasks, plan, managed),
        parallelGroup,
        onCriticalPath: false,
      })),
    }),
  };
}

/** Returns the known agents, workers first, each role once. */
function drawnAgents(plan: Plan): readonly AgentSummary[] {
  const agents = [
    ...(plan.options.agents ?? []),
    ...plan.tasks.flatMap(({ agent }) => agent ?? []),
  ];
  const byRole = new Map<string, Agent>(agents.toReversed().map((agent) => [agent.role, agent]));
  return [...new Set(agents.map(({ role }) => role))].flatMap((of) => {
    const agent = byRole.get(of);
    if (agent === undefined) return [];
    const { role, goal, background, tools, allowDelegation } = agent;
    const toolNames = tools.flatMap((tool) => (isTool(tool) ? [tool.name] : []));
    return [{ role, goal, background, toolNames, allowDelegation }];
  });
}
