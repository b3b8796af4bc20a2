import type { ToolCall } from "../../../contracts/chat-model.js";

/** Only the fields that are there; `undefined` when none is. */
export function reportedFields<T extends object>(fields: {
  readonly [K in keyof T]: T[K] | undefined;
}): Partial<T> | undefined {
  const reported = Object.entries(fields).filter(([, value]) => value !== undefined);
  return reported.length === 0 ? undefined : (Object.fromEntries(reported) as Partial<T>); // the same keys, fewer of them
}

/** The JSON text of a tool call's arguments; some servers send the object itself, or nothing for none. */
export function readArguments(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "{}" : JSON.stringify(value);
}

/** An id for a tool call that came without one; unique within the conversation as far as the answers have ids. */
export function fallbackCallId(responseId: string | undefined, index: number): string {
  return `${responseId ?? "call"}_${index + 1}`;
}

/** The field for a message's tool calls: absent where there are none. */
export function toolCallsField(calls: readonly ToolCall[]): {
  readonly toolCalls?: readonly ToolCall[];
} {
  return calls.length === 0 ? {} : { toolCalls: calls };
}

/** The field for what the model thought: absent where nothing of it came. */
export function reasoningField(reasoning: string): { readonly reasoning?: string } {
  return reasoning === "" ? {} : { reasoning };
}
