import type { Awaitable } from "../../../contracts/types.js";
import { ToolResult } from "../../../contracts/tool.js";
import { preview } from "../../../contracts/validation.js";

/** What is wrong with a tool's input, in words for the model: {@link answering} makes a failed result of it. */
export class InputProblem extends Error {}

/** A text in a message: whole where it is short. */
export function shown(text: string): string {
  return preview(text, 100);
}

/**
 * The trimmed text of a call. Inside a run the input of a tool without a schema is always a string; a tool that is called by hand may get anything.
 * @throws InputProblem `{what} must not be blank`, or that it is no text or too long
 */
export function readText(what: string, input: unknown, maxLength: number): string {
  if (input !== undefined && input !== null && typeof input !== "string")
    throw new InputProblem(`${what} must be a text, got: ${preview(input)}`);
  const text = input?.trim() ?? "";
  if (text === "") throw new InputProblem(`${what} must not be blank`);
  if (text.length > maxLength)
    throw new InputProblem(
      `${what} must not have more than ${maxLength} characters, got ${text.length}`,
    );
  return text;
}

/** The result of `work`; an {@link InputProblem} becomes a failed one, everything else is thrown on. */
export async function answering(work: () => Awaitable<ToolResult>): Promise<ToolResult> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InputProblem) return ToolResult.failure(error.message);
    throw error;
  }
}
