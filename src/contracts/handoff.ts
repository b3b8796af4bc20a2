import type { Handoff, HandoffOptions } from "./agent.js";
import type { NamedHandoff } from "./handoff-list.js";
import { Agent } from "./agent.js";
import { ValidationError } from "./errors.js";
import { checkHandoffOptions, namedHandoffs } from "./handoff-list.js";
import { preview } from "./validation.js";

/**
 * Describes how another agent may take over from an agent. An agent in `handoffs` equals
 * `handoff(agent)`.
 *
 * @example handoffs: [handoff(billing, { description: "Invoices and refunds" })]
 * @throws ValidationError for a value other than an agent, an invalid tool name, or an unknown
 * option.
 */
export function handoff(agent: Agent, options: HandoffOptions = {}): Handoff {
  if (!(agent instanceof Agent))
    throw new ValidationError(`handoff() needs an Agent, got: ${preview(agent)}`);
  checkHandoffOptions("handoff()", { ...options, agent });
  return Object.freeze({ ...options, agent });
}

/** Returns the handoffs of an agent, each with the name of its tool. @throws ValidationError */
export function handoffsOf(agent: Agent): readonly NamedHandoff<Agent>[] {
  return namedHandoffs<Agent>(agent);
}

/**
 * Returns the agents, and all agents that can take over from them, directly or through others.
 * @throws ValidationError
 */
export function withSuccessors(agents: Iterable<Agent>): ReadonlySet<Agent> {
  const reached = new Set(agents);
  for (const agent of reached) for (const next of handoffsOf(agent)) reached.add(next.agent);
  return reached;
}
