import { ValidationError } from "./errors.js";
import { canonicalRole, toolNameOf } from "./role.js";
import { checkOptions, preview, requireOneOf, requireText } from "./validation.js";

/** The properties of an agent that a handoff needs. */
interface Teammate {
  readonly role: string;
  readonly tools: readonly unknown[];
  readonly handoffs: unknown;
}

/** A handoff as the user passed it. */
interface GivenHandoff<A> {
  readonly agent: A;
  readonly toolName?: string | undefined;
  readonly description?: string | undefined;
  readonly history?: "all" | "text" | undefined;
}

/** A handoff with the name of its tool. */
export interface NamedHandoff<A> extends GivenHandoff<A> {
  readonly toolName: string;
}

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Returns a copy of an agent's `handoffs`. Does not call a function.
 * @throws ValidationError for a value that is neither a list of agents and handoffs nor a function.
 */
export function snapshotOfHandoffs<H>(owner: Teammate, handoffs: H | undefined): H | undefined {
  if (handoffs === undefined || typeof handoffs === "function") return handoffs;
  namedHandoffs(owner, handoffs);
  return Object.freeze([...(handoffs as readonly unknown[])]) as H;
}

/**
 * Returns the handoffs of an agent, each with the name of its tool. Calls a function.
 *
 * @throws ValidationError for a value that is neither an agent nor a handoff, and for the agent
 * itself. Also for two handoffs with the same role or the same tool name.
 */
export function namedHandoffs<A extends Teammate>(
  owner: Teammate,
  given: unknown = owner.handoffs,
): readonly NamedHandoff<A>[] {
  if (given === undefined) return [];
  const what = `The handoffs of agent '${owner.role}'`;
  const entries: unknown = typeof given === "function" ? (given as () => unknown)() : given;
  if (!Array.isArray(entries))
    throw new ValidationError(
      `${what} must be a list of agents or a function that returns one, got: ${preview(entries)}`,
    );
  const handoffs = entries.map((entry: unknown, i) => namedHandoff<A>(`${what}[${i}]`, entry));
  const roles = new Set([canonicalRole(owner.role)]);
  const names = new Set(owner.tools.map((tool) => (tool as { readonly name?: unknown }).name));
  for (const { agent, toolName } of handoffs) {
    const role = canonicalRole(agent.role);
    if (role === canonicalRole(owner.role))
      throw new ValidationError(`Agent '${owner.role}' can't hand off to itself`);
    if (roles.has(role))
      throw new ValidationError(`${what} have two agents with the role '${agent.role}'`);
    if (names.has(toolName))
      throw new ValidationError(`${what}: two tools would have the name '${toolName}'`, {
        hint: 'Name one of them: handoff(agent, { toolName: "..." }).',
      });
    roles.add(role);
    names.add(toolName);
  }
  return handoffs;
}

function namedHandoff<A extends Teammate>(what: string, entry: unknown): NamedHandoff<A> {
  const given = isTeammate<A>(entry) ? { agent: entry } : (entry as GivenHandoff<A> | undefined);
  if (!isTeammate<A>(given?.agent))
    throw new ValidationError(
      `${what} must be an Agent, or handoff(agent), got: ${preview(entry)}`,
    );
  checkHandoffOptions(what, given);
  return { ...given, toolName: given.toolName ?? toolNameOf("transfer_to_", given.agent.role) };
}

function isTeammate<A extends Teammate>(value: unknown): value is A {
  const { role, tools, with: copy } = (value ?? {}) as Record<string, unknown>;
  return typeof role === "string" && Array.isArray(tools) && typeof copy === "function";
}

/** @throws ValidationError for an unknown option or a value out of range. */
export function checkHandoffOptions(what: string, given: GivenHandoff<unknown>): void {
  checkOptions(what, given, ["agent", "toolName", "description", "history"]);
  const { toolName, description, history } = given;
  if (toolName !== undefined && !(typeof toolName === "string" && TOOL_NAME.test(toolName)))
    throw new ValidationError(
      `${what} toolName must be 1 to 64 letters, digits, '_' and '-', got: ${preview(toolName)}`,
    );
  if (description !== undefined) requireText(description, `${what} description must not be blank`);
  requireOneOf(`${what} history`, history, ["all", "text"]);
}
