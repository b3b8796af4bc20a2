import type { Agent } from "../contracts/agent.js";
import type { Plan, PlannedTask } from "../contracts/plan.js";
import type { TaskExplainer } from "./explain-task.js";
import type { TaskDetails } from "./model.js";
import { Task } from "../contracts/task.js";
import { Tokens } from "../contracts/tokens.js";
import { canonicalRole } from "../contracts/role.js";

/** Returns the maximum number of delegations of a manager. */
export function delegationsOf(manager: TaskDetails, { settings }: TaskExplainer): number {
  const limit = settings.find(Tokens.HierarchicalConstraints)?.globalMaxDelegations ?? 0;
  return Math.min(
    manager.agent?.maxIterations ?? 0,
    limit === 0 ? Number.POSITIVE_INFINITY : limit,
  );
}

/**
 * Returns the possible delegations. `listed`: the tasks of the plan. A task whose agent a model
 * creates is included unchanged, because its agent is unknown.
 */
export async function assignmentsOf(
  plan: Plan,
  listed: readonly TaskDetails[],
  explainer: TaskExplainer,
): Promise<readonly TaskDetails[]> {
  const [unknown, known] = [
    listed.filter(({ explained }) => explained.synthesizedByModel),
    listed.filter(({ explained }) => !explained.synthesizedByModel),
  ];
  const agents = new Map<string, Agent>();
  for (const agent of [...explainer.run.workers, ...known.flatMap((task) => task.agent ?? [])])
    agents.set(canonicalRole(agent.role), agent);
  const tasks = plan.tasks.filter(({ task }) => task.handler === undefined);
  const assigned = [...agents.values()].flatMap((agent) => [
    madeUp(agent),
    ...tasks.map((task) => ({ ...task, agent })),
  ]);
  return [...unknown, ...(await Promise.all(assigned.map((task) => explainer.explain(task))))];
}

/** A task that the manager creates. Its text is the answer of the manager. */
function madeUp(agent: Agent): PlannedTask {
  return {
    id: `a task for ${agent.role}`,
    task: new Task({ description: "What the manager writes", agent }),
    contextIds: [],
    agent,
  };
}
