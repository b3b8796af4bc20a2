import type { AssistantMessage, ReasoningChunk } from "../../../contracts/chat-model.js";
import type { JsonValue, ReasoningPart } from "../../../contracts/content.js";

/** A block of reasoning in the form of its vendor. It is sent back only if it has `data`. */
export interface ReasoningBlock {
  readonly text: string;
  /** Position among the blocks of its message. All texts together count as one block. */
  readonly index: number;
  readonly data?: JsonValue | undefined;
}

/**
 * Returns the field for the blocks of a message's reasoning. Returns no field if there are none.
 */
export function reasoningParts(
  blocks: readonly ReasoningBlock[],
  { provider, modelId }: Pick<ReasoningPart, "provider" | "modelId">,
): Pick<AssistantMessage, "reasoning"> {
  const kept = blocks.filter(({ text, data }) => text !== "" || data !== undefined);
  if (kept.length === 0) return {};
  return { reasoning: kept.map((block) => ({ type: "reasoning", provider, modelId, ...block })) };
}

/**
 * Returns the chunk for a piece of a block. Returns none if the piece is empty. `index` counts the
 * blocks.
 */
export function reasoningChunks(index: number, text: string): readonly ReasoningChunk[] {
  return text === "" ? [] : [{ type: "reasoning", index, text }];
}

/** Joins the texts of reasoning. Hidden blocks have no text. */
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
