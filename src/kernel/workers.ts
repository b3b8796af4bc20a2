import type { Agent } from "../contracts/agent.js";
import type { EngineRun } from "./engine-run.js";

/** Agents that tasks can be handed to, one per role: those without a task of their own, those of the plan, those made so far. */
export function workersOf(run: EngineRun): readonly Agent[] {
  const workers = new Map<string, Agent>();
  for (const agent of [
    ...(run.options.agents ?? []),
    ...run.plan.tasks.map((t) => t.agent),
    ...run.madeAgents,
  ]) {
    if (agent !== undefined && !workers.has(canonicalRole(agent.role)))
      workers.set(canonicalRole(agent.role), agent);
  }
  return [...workers.values()];
}

/** Roles are compared without regard to case and outer blanks. */
export function canonicalRole(role: string): string {
  return role.trim().toLowerCase();
}
