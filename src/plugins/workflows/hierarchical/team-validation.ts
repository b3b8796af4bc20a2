import type { Agent } from "../../../contracts/agent.js";
import type { Plan } from "../../../contracts/plan.js";
import { ValidationError } from "../../../contracts/errors.js";
import { canonicalRole } from "../../../contracts/role.js";
import { checkConstraints } from "./constraint-validation.js";

/** The role of the agent that leads the team. */
export const MANAGER_ROLE = "Manager";

/**
 * Rejects plans that a manager can't run.
 * @throws ValidationError
 */
export function validateTeam(plan: Plan): void {
  const { options } = plan;
  const agents = agentsOf(plan);
  checkReserved(agents);
  checkDuplicates(agents);
  if (options.hierarchicalConstraints !== undefined)
    checkConstraints(
      options.hierarchicalConstraints,
      needsAgents(plan) ? undefined : agents.map(({ role }) => role),
    );
  const handled = plan.tasks.find(({ task }) => task.handler !== undefined);
  if (handled !== undefined) {
    throw new ValidationError(
      `Deterministic handler tasks are not supported in HIERARCHICAL workflow. Task '${handled.task.description}' has a handler configured. Use SEQUENTIAL or PARALLEL workflow when mixing AI-backed and deterministic tasks.`,
    );
  }
  if (plan.loops.length > 0) {
    throw new ValidationError(
      "Workflow.HIERARCHICAL does not support Loop nodes. Use Workflow.SEQUENTIAL or Workflow.PARALLEL when declaring loops.",
    );
  }
}

/**
 * Whether agents are created for tasks without one. If workers are given, the manager chooses one
 * of them instead.
 */
export function needsAgents({ options, tasks }: Plan): boolean {
  return (options.agents ?? []).length === 0 && tasks.some(({ agent }) => agent === undefined);
}

/** @throws ValidationError for an agent with the manager's role */
export function checkReserved(agents: readonly Agent[]): void {
  const taken = agents.find(({ role }) => canonicalRole(role) === canonicalRole(MANAGER_ROLE));
  if (taken === undefined) return;
  throw new ValidationError(
    `Agent role '${MANAGER_ROLE}' is reserved for the virtual manager in HIERARCHICAL workflow. Choose a different role for agent '${taken.role}'.`,
  );
}

/** Returns the agents that the user declared, each once. */
function agentsOf({ options, tasks }: Plan): readonly Agent[] {
  return [...new Set([...(options.agents ?? []), ...tasks.flatMap(({ agent }) => agent ?? [])])];
}

function checkDuplicates(agents: readonly Agent[]): void {
  const roles = new Set<string>();
  for (const { role } of agents) {
    if (roles.has(canonicalRole(role))) {
      throw new ValidationError(
        `Duplicate agent role '${role}' detected in HIERARCHICAL workflow. All agent roles must be unique (case-insensitive) to avoid ambiguous delegation.`,
      );
    }
    roles.add(canonicalRole(role));
  }
}

/**
 * Returns the options of tasks without an agent that have no effect, because the manager chooses
 * their worker.
 */
export function unusedManagerOptions(plan: Plan): readonly string[] {
  if (needsAgents(plan)) return [];
  return plan.tasks.flatMap(({ task, agent }) => {
    if (agent !== undefined) return [];
    const unused = [
      ...(task.tools.length > 0 ? ["tools"] : []),
      ...(task.maxIterations !== undefined ? ["maxIterations"] : []),
    ];
    return unused.map(
      (option) =>
        `Task '${task.description}' is done by the worker that the manager chooses, so its option '${option}' has no effect: set it on the agent`,
    );
  });
}
