import type { ToolCall, Usage } from "../../contracts/chat-model.js";
import { ValidationError } from "../../contracts/errors.js";
import {
  checkOptions,
  preview,
  requireArray,
  requireDuration,
} from "../../contracts/validation.js";

/**
 * A tool call of a script. `arguments` is JSON text, which is used unchanged, or a value that is
 * written as JSON. `id` defaults to `call_{n}`.
 */
export interface ScriptedToolCall {
  readonly name: string;
  readonly arguments: unknown;
  readonly id?: string | undefined;
}

/**
 * One answer of a `ScriptedModel`: a text, an error to reject with, or an object with these fields:
 * - `chunks`: the pieces in which `stream()` yields the text. Default: one piece. `text` defaults
 *   to all pieces joined.
 * - `reasoning`: the pieces of one block of reasoning before the text.
 * - `usage`: the reported usage. Default: none.
 * - `delayMs`: waits for this time first. The signal ends the wait.
 */
export type ScriptStep =
  | string
  | Error
  | {
      readonly text?: string | undefined;
      readonly toolCalls?: readonly ScriptedToolCall[] | undefined;
      readonly usage?: Usage | undefined;
      readonly delayMs?: number | undefined;
      readonly error?: Error | undefined;
      readonly chunks?: readonly string[] | undefined;
      readonly reasoning?: readonly string[] | undefined;
    };

/** A step with all forms expanded. */
export interface ResolvedStep {
  readonly text: string;
  readonly chunks: readonly string[];
  readonly reasoning: readonly string[];
  readonly toolCalls: readonly ScriptedToolCall[];
  readonly usage: Usage | undefined;
  readonly delayMs: number;
  readonly error: Error | undefined;
}

const STEP_FIELDS = [
  "text",
  "toolCalls",
  "usage",
  "delayMs",
  "error",
  "chunks",
  "reasoning",
] as const;
const CALL_FIELDS = ["name", "arguments", "id"] as const;

function checkToolCall(what: string, call: ScriptedToolCall): void {
  checkOptions(what, call, CALL_FIELDS);
  if (typeof call.name !== "string" || call.name === "")
    throw new ValidationError(`${what} needs a name, got: ${preview(call)}`);
}

/**
 * Expands a step.
 * @throws ValidationError for an invalid step, which is called `what`.
 */
export function resolveStep(what: string, step: ScriptStep): ResolvedStep {
  const none = { reasoning: [], toolCalls: [], usage: undefined, delayMs: 0, error: undefined };
  if (typeof step === "string") return { ...none, text: step, chunks: step === "" ? [] : [step] };
  if (step instanceof Error) return { ...none, text: "", chunks: [], error: step };
  checkOptions(what, step, STEP_FIELDS);
  requireArray(`${what} toolCalls`, step.toolCalls);
  requireArray(`${what} chunks`, step.chunks);
  requireArray(`${what} reasoning`, step.reasoning);
  if (step.delayMs !== 0) requireDuration(`${what} delayMs`, step.delayMs);
  const toolCalls = step.toolCalls ?? [];
  toolCalls.forEach((call, index) => checkToolCall(`${what} toolCalls[${index}]`, call));
  const joined = (step.chunks ?? []).join("");
  const text = step.text ?? joined;
  if (step.chunks !== undefined && text !== joined) {
    throw new ValidationError(
      `${what} text differs from its joined chunks: ${preview(text)} and ${preview(joined)}`,
    );
  }
  return {
    text,
    chunks: step.chunks ?? (text === "" ? [] : [text]),
    reasoning: step.reasoning ?? [],
    toolCalls,
    usage: step.usage,
    delayMs: step.delayMs ?? 0,
    error: step.error,
  };
}

/** Returns the arguments in the form in which a model writes them. */
function argumentsText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "{}");
}

/** Returns the calls of a step, with ids. `nextId` creates the missing ids. */
export function toToolCalls(step: ResolvedStep, nextId: () => string): readonly ToolCall[] {
  return step.toolCalls.map((call) => ({
    id: call.id ?? nextId(),
    name: call.name,
    arguments: argumentsText(call.arguments),
  }));
}
