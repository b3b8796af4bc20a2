import type { Awaitable } from "../../../contracts/types.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { preview } from "../../../contracts/validation.js";

/**
 * A problem with a tool's input. Its message is for the model. {@link answering} converts it into a
 * failed result.
 */
export class InputProblem extends Error {}

/** Quotes a text in a message, shortened if it is long. */
export function shown(text: string): string {
  return preview(text, 100);
}

/**
 * Returns the trimmed text of a call. Inside a run the input of a tool without a schema is always a
 * string. A direct call may pass any value.
 * @throws InputProblem `{what} must not be blank`, or if the input is not a text or too long
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

/**
 * Returns the result of `work`. Converts an {@link InputProblem} into a failed result and rethrows
 * any other error.
 */
export async function answering(work: () => Awaitable<ToolResult>): Promise<ToolResult> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InputProblem) return ToolResult.failure(error.message);
    throw error;
  }
}
