import type { ToolCall } from "../../../contracts/chat-model.js";
import { asFields, type Fields } from "../../../util/objects.js";

/** Returns only the fields with values, or `undefined` if there are none. */
export function reportedFields<T extends object>(fields: {
  readonly [K in keyof T]: T[K] | undefined;
}): Partial<T> | undefined {
  const reported = Object.entries(fields).filter(([, value]) => value !== undefined);
  // a subset of the same keys
  return reported.length === 0 ? undefined : (Object.fromEntries(reported) as Partial<T>);
}

/**
 * Returns the JSON text of a tool call's arguments. Some servers send an object instead of a text,
 * or send nothing if there are no arguments.
 */
export function readArguments(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "{}" : JSON.stringify(value);
}

/**
 * Returns the arguments of an earlier call as an object. Vendors refuse a conversation with other
 * arguments. Invalid arguments become an object with the model's text, and no arguments an empty
 * object.
 */
export function sentArguments({ arguments: text }: ToolCall): Fields {
  if (text.trim() === "") return {};
  try {
    const input = asFields(JSON.parse(text));
    if (input !== undefined) return input;
  } catch {
    // The tool's result reports the problem to the model.
  }
  return { arguments: text };
}

/** Returns the arguments of an earlier call as the text of an object. A valid text is unchanged. */
export function sentArgumentsText(call: ToolCall): string {
  const sent = sentArguments(call);
  return sent["arguments"] === call.arguments || call.arguments.trim() === ""
    ? JSON.stringify(sent)
    : call.arguments;
}

/**
 * Returns an id for a tool call without one. It is unique within the conversation if the responses
 * have ids.
 */
export function fallbackCallId(responseId: string | undefined, index: number): string {
  return `${responseId ?? "call"}_${index + 1}`;
}

/** Returns the field for a message's tool calls. Returns no field if there are none. */
export function toolCallsField(calls: readonly ToolCall[]): {
  readonly toolCalls?: readonly ToolCall[];
} {
  return calls.length === 0 ? {} : { toolCalls: calls };
}

/** Returns the field for the model's reasoning. Returns no field if there is none. */
export function reasoningField(reasoning: string): { readonly reasoning?: string } {
  return reasoning === "" ? {} : { reasoning };
}
