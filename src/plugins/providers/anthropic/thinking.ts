import type { Anthropic } from "@anthropic-ai/sdk";
import type { ChatRequest } from "../../../contracts/chat-model.js";
import type { ReasoningOptions } from "../../../contracts/content.js";

type Effort = NonNullable<Anthropic.OutputConfig["effort"]>;

/** The settings of a request's reasoning in the vendor's form. */
export interface Thinking {
  readonly config?: Anthropic.ThinkingConfigParam;
  readonly effort?: Effort;
  /** Tokens added to the output limit of the answer. */
  readonly budgetTokens: number;
}

const NONE: Thinking = Object.freeze({ budgetTokens: 0 });
const DISABLED: Thinking = { config: { type: "disabled" }, budgetTokens: 0 };

/** Whether the request requires a tool call. The vendor refuses thinking in such a request. */
function forcesTool({ tools = [], toolChoice }: ChatRequest): boolean {
  return tools.length > 0 && (toolChoice === "required" || typeof toolChoice === "object");
}

/**
 * Whether tool results follow an answer that does not begin with reasoning of this vendor. An
 * example is an answer of another agent. The vendor refuses to start thinking there.
 */
function goesOnWithoutThought({ messages }: ChatRequest): boolean {
  if (messages.at(-1)?.role !== "tool") return false;
  const answer = messages.findLast((message) => message.role === "assistant");
  return !answer?.reasoning?.some(
    ({ provider, data, index }) => provider === "anthropic" && data !== undefined && index === 0,
  );
}

function vendorEffort(effort: NonNullable<ReasoningOptions["effort"]>): Effort | undefined {
  if (effort === "none") return undefined;
  return effort === "minimal" ? "low" : effort;
}

/** Converts the settings of reasoning. */
export function thinkingOf(request: ChatRequest): Thinking {
  const { reasoning } = request;
  if (reasoning === undefined) return NONE;
  const { effort, budgetTokens, summary } = reasoning;
  if (effort === "none" || forcesTool(request)) return DISABLED;
  const display = summary === "off" ? ("omitted" as const) : ("summarized" as const);
  if (budgetTokens !== undefined && goesOnWithoutThought(request)) return DISABLED;
  if (budgetTokens !== undefined)
    return { config: { type: "enabled", budget_tokens: budgetTokens, display }, budgetTokens };
  const sent = effort === undefined ? undefined : vendorEffort(effort);
  return {
    config: { type: "adaptive", display },
    budgetTokens: 0,
    ...(sent !== undefined && { effort: sent }),
  };
}
