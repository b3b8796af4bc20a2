import type { Agent, Handoff } from "../contracts/agent.js";
import type { ConversationOptions } from "./conversation-options.js";
import { ValidationError } from "../contracts/errors.js";
import { handoffsOf, withSuccessors } from "../contracts/handoff.js";
import { namedHandoffs } from "../contracts/handoff-list.js";
import { canonicalRole } from "../contracts/role.js";

/** The agents of a conversation, with its tools and handoffs. */
export class ConversationTeam {
  /** The agent that begins the first turn. */
  readonly first: Agent;
  readonly #options: Pick<ConversationOptions, "agent" | "tools" | "handoffs">;
  /** The agents that may transfer to each other. */
  readonly #group: readonly Handoff[];
  readonly #equipped = new WeakMap<Agent, Agent>();
  readonly #byRole = new Map<string, Agent>();

  /**
   * @throws ValidationError for two tools with the same name, two agents with the same role, and
   * invalid handoffs.
   */
  constructor(options: Pick<ConversationOptions, "agent" | "tools" | "handoffs">) {
    const { agent, handoffs } = options;
    this.#options = options;
    this.#group =
      handoffs === undefined ? [] : [{ agent }, ...namedHandoffs<Agent>(agent, handoffs)];
    this.first = this.equipped(agent);
    for (const member of withSuccessors([this.first])) this.#add(member);
  }

  /** Whether a turn may end with a different agent than it began with. */
  get hasHandoffs(): boolean {
    return this.#byRole.size > 1;
  }

  /** Returns the agent with a role. Returns `undefined` if there is no such agent. */
  withRole(role: string): Agent | undefined {
    return this.#byRole.get(canonicalRole(role));
  }

  /** Returns an agent with the tools and handoffs of the conversation. */
  equipped(agent: Agent): Agent {
    const { tools = [] } = this.#options;
    const others = this.#othersOf(agent);
    if (tools.length === 0 && this.#group.length === 0) return agent;
    let equipped = this.#equipped.get(agent);
    if (equipped === undefined) {
      const own = new Set(agent.tools);
      equipped = agent.with({
        tools: [...own, ...tools.filter((tool) => !own.has(tool))],
        ...((agent.handoffs !== undefined || others.length > 0) && {
          handoffs: () => this.#successorsOf(agent, others),
        }),
      });
      this.#equipped.set(agent, equipped);
      this.#equipped.set(equipped, equipped);
    }
    return equipped;
  }

  /** Returns the handoffs of an agent, then the missing handoffs to other agents of its group. */
  #successorsOf(agent: Agent, others: readonly Handoff[]): readonly Handoff[] {
    const own = handoffsOf(agent);
    const known = new Set(own.map((handoff) => canonicalRole(handoff.agent.role)));
    const added = others.filter(({ agent: { role } }) => !known.has(canonicalRole(role)));
    return [...own, ...added].map((handoff) => ({
      ...handoff,
      agent: this.equipped(handoff.agent),
    }));
  }

  #othersOf(agent: Agent): readonly Handoff[] {
    const isMember = this.#group.some((member) => member.agent === agent);
    return isMember ? this.#group.filter((member) => member.agent !== agent) : [];
  }

  #add(member: Agent): void {
    const role = canonicalRole(member.role);
    if (this.#byRole.has(role))
      throw new ValidationError(
        `Two agents of the conversation have the role '${member.role}'. A thread names its agent by the role`,
      );
    this.#byRole.set(role, member);
  }
}
