import type { Agent } from "../../../contracts/agent.js";
import type { ToolCall } from "../../../contracts/chat-model.js";
import type { NamedHandoff } from "../../../contracts/handoff-list.js";
import type { AnyTool, ToolContext } from "../../../contracts/tool.js";
import type { JsonSchema } from "../../../contracts/types.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { AgentTemplateName } from "./agent-prompts.js";
import { handoffsOf } from "../../../contracts/handoff.js";
import { canonicalRole } from "../../../contracts/role.js";
import { tool } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { asText } from "../../../util/objects.js";
import { delegateForModel } from "../../shared/delegation/delegate-for-model.js";

type Texts = PromptTexts<AgentTemplateName>;
type Successor = NamedHandoff<Agent>;

const MAX_HANDOFFS = 5;
const NONE: readonly AnyTool[] = Object.freeze([]);

/** The transfers of one attempt of a task, from one agent to the next. */
export class Transfers {
  readonly #texts: Texts;
  readonly #max: number;
  #count = 0;
  /** The tools of the current agent. */
  #tools: readonly AnyTool[] = NONE;
  /** The accepted transfer of the answer in progress. */
  #accepted: Successor | undefined;

  constructor(
    texts: Texts,
    { maxHandoffs = MAX_HANDOFFS }: { readonly maxHandoffs?: number | undefined },
  ) {
    this.#texts = texts;
    this.#max = maxHandoffs;
  }

  /** Returns the transfers of an agent. Returns `undefined` for an agent without handoffs. */
  static of(
    agent: Agent,
    texts: Texts,
    options: { readonly maxHandoffs?: number | undefined },
  ): Transfers | undefined {
    return agent.handoffs === undefined ? undefined : new Transfers(texts, options);
  }

  /**
   * Returns the tools that transfer a task of the agent. They replace those of the previous agent.
   * @throws ValidationError
   */
  toolsOf(agent: Agent): readonly AnyTool[] {
    const targets = handoffsOf(agent);
    return (this.#tools =
      targets.length === 0 ? NONE : targets.map((target) => this.#toolOf(target, targets)));
  }

  /**
   * Returns the calls of an answer with the transfers last. The current agent executes the other
   * calls first.
   */
  inOrder(calls: readonly ToolCall[]): readonly ToolCall[] {
    if (calls.length === 1 || this.#tools === NONE) return calls;
    const isTransfer = (call: ToolCall): boolean =>
      this.#tools.some(({ name }) => name === call.name);
    return [...calls.filter((call) => !isTransfer(call)), ...calls.filter(isTransfer)];
  }

  /** Returns the transfer that was accepted since the last call of this method. */
  take(): Successor | undefined {
    const accepted = this.#accepted;
    this.#accepted = undefined;
    return accepted;
  }

  #toolOf(target: Successor, targets: readonly Successor[]): AnyTool {
    const { role, goal } = target.agent;
    return tool<Readonly<Record<string, unknown>>>({
      name: target.toolName,
      description: target.description ?? this.#texts.render("handoff.tool", { role, goal }),
      replay: "run",
      delegates: true,
      sequential: true,
      input: this.#input,
      execute: ({ reason }, context) => this.#transfer(target, targets, asText(reason), context),
    });
  }

  get #input(): JsonSchema {
    const description = this.#texts.render("handoff.reason", {});
    return { type: "object", properties: { reason: { type: "string", description } } };
  }

  async #transfer(
    target: Successor,
    targets: readonly Successor[],
    reason: string,
    { scope, toolCallId }: ToolContext,
  ): Promise<ToolResult> {
    const { role } = target.agent;
    const refusal = this.#refusal();
    const response = await delegateForModel(
      scope,
      {
        agentRole: role,
        taskDescription:
          reason.trim() === "" ? this.#texts.render("handoff.task", { role }) : reason,
        mode: "handoff",
      },
      {
        toolCallId,
        ...(refusal !== undefined && { refusal }),
        handoff: {
          agents: targets.map(({ agent }) => agent),
          depth: this.#count,
          maxDepth: this.#max,
        },
      },
    );
    if (response.status === "FAILURE") return ToolResult.failure(response.errors.join("; "));
    // A policy may have selected another successor.
    const chosen = targets.find(
      ({ agent }) => canonicalRole(agent.role) === canonicalRole(response.workerRole),
    );
    this.#accepted = chosen ?? target;
    this.#count++;
    return ToolResult.success(response.rawOutput ?? "");
  }

  #refusal(): string | undefined {
    if (this.#accepted !== undefined)
      return this.#texts.render("handoff.second", { role: this.#accepted.agent.role });
    return this.#count < this.#max
      ? undefined
      : this.#texts.render("handoff.limit", { max: this.#max });
  }
}
