import type { PartSummary } from "./part-summary.js";

/** A message of a model call's conversation, as kept by capture modes from STANDARD on. */
export interface CapturedMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  /** The text. Each image and file is one line. */
  readonly content: string;
  /** Requested tool calls. Empty in all messages except assistant messages. */
  readonly toolCalls: readonly { readonly name: string; readonly arguments: string }[];
  /** The tool whose result a tool message contains. */
  readonly toolName: string | undefined;
  /** Images and files, without their content. Absent if there are none. */
  readonly parts?: readonly PartSummary[] | undefined;
  /** The reasoning before the text. Present only in capture modes that keep it (FULL). */
  readonly reasoning?: string | undefined;
}

/** The first prompts of a task. */
export interface TracedPrompts {
  readonly systemPrompt: string;
  readonly userPrompt: string;
  /** Images and files of the user prompt. Absent if there are none. */
  readonly parts?: readonly PartSummary[] | undefined;
}
