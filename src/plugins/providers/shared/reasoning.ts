import type { AssistantMessage, ReasoningChunk } from "../../../contracts/chat-model.js";
import type { JsonValue, ReasoningPart } from "../../../contracts/content.js";

/** A block of reasoning as a vendor returned it. `data` is sent back. A block without it is not. */
export interface ReasoningBlock {
  readonly text: string;
  /** Position among the blocks of its message, where all texts count as one. */
  readonly index: number;
  readonly data?: JsonValue | undefined;
}

/** Returns the field for the blocks of a message's reasoning; no field if there are none. */
export function reasoningParts(
  blocks: readonly ReasoningBlock[],
  { provider, modelId }: Pick<ReasoningPart, "provider" | "modelId">,
): Pick<AssistantMessage, "reasoning"> {
  const kept = blocks.filter(({ text, data }) => text !== "" || data !== undefined);
  if (kept.length === 0) return {};
  return { reasoning: kept.map((block) => ({ type: "reasoning", provider, modelId, ...block })) };
}

/** Returns the chunk for a piece of a block; none if it is empty. `index` counts the blocks. */
export function reasoningChunks(index: number, text: string): readonly ReasoningChunk[] {
  return text === "" ? [] : [{ type: "reasoning", index, text }];
}

/** Joins the texts of reasoning; blocks without text are hidden ones. */
export function reasoningText(blocks: readonly ReasoningBlock[]): string {
  return blocks.flatMap(({ text }) => (text === "" ? [] : [text])).join("\n\n");
}

/**
 * Inserts the blocks of reasoning of this provider at their positions among the other blocks of a
 * message.
 */
export function withReasoning<B>(
  { reasoning = [] }: AssistantMessage,
  provider: string,
  others: readonly B[],
): readonly B[] {
  const own = reasoning.filter((part) => part.provider === provider && part.data !== undefined);
  if (own.length === 0) return others;
  const blocks: B[] = [...others];
  for (const part of own.toSorted((a, b) => a.index - b.index))
    blocks.splice(part.index, 0, part.data as B); // a block of the vendor
  return blocks;
}
