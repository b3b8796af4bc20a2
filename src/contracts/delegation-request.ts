import type { DelegationRequest } from "./delegation.js";
import type { DelegateOptions } from "./run.js";
import { ValidationError } from "./errors.js";
import { preview, requireInteger, requireOneOf, requireText } from "./validation.js";

const PRIORITIES: readonly unknown[] = [
  "LOW",
  "NORMAL",
  "HIGH",
  "CRITICAL",
] satisfies readonly DelegationRequest["priority"][];

function requireRecord(field: string, value: unknown): void {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
  throw new ValidationError(`DelegationRequest ${field} must be an object, got: ${preview(value)}`);
}

/**
 * Checks a priority. `field` names it in the error.
 * @throws ValidationError for an unknown priority.
 */
export function checkPriority(field: string, priority: unknown): void {
  if (!PRIORITIES.includes(priority))
    throw new ValidationError(
      `${field} must be LOW, NORMAL, HIGH or CRITICAL, got: ${preview(priority)}`,
    );
}

/**
 * Checks a request. Untyped tools, plugins and taps may build it from any values.
 * @throws ValidationError with the name of the invalid field.
 */
export function checkRequest(request: DelegationRequest, { taskId }: DelegateOptions): void {
  if (typeof request !== "object" || request === null)
    throw new ValidationError(`A delegation request must be an object, got: ${preview(request)}`);
  requireText(request.taskId, "DelegationRequest taskId must not be blank");
  requireText(request.agentRole, "DelegationRequest agentRole must not be blank");
  requireText(request.taskDescription, "DelegationRequest taskDescription must not be blank");
  requireRecord("scope", request.scope);
  requireRecord("metadata", request.metadata);
  checkPriority("DelegationRequest priority", request.priority);
  requireOneOf("DelegationRequest mode", request.mode, ["task", "handoff", "tool"]);
  requireInteger("DelegationRequest maxOutputRetries", request.maxOutputRetries ?? null, 0);
  if (request.expectedOutputSchema === undefined) return;
  requireRecord("expectedOutputSchema", request.expectedOutputSchema);
  if (taskId !== undefined) {
    throw new ValidationError(
      `DelegationRequest expectedOutputSchema can't be had of task '${taskId}': a task of the plan has its own schema`,
      {
        hint: "Give the task an outputType, or delegate a new task.",
      },
    );
  }
}
