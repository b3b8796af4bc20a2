import type { DelegationRequest, DelegationResponse } from "../contracts/delegation.js";
import type { DelegateOptions, TaskScope } from "../contracts/run.js";
import {
  ExitEarlySignal,
  messageOf,
  ToolConfigurationError,
  ValidationError,
} from "../contracts/errors.js";
import { Tokens } from "../contracts/tokens.js";
import { preview, requireInteger, requireText } from "../contracts/validation.js";

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

/** @throws ValidationError for what is no priority; `field` says whose it would be. */
export function checkPriority(field: string, priority: unknown): void {
  if (!PRIORITIES.includes(priority))
    throw new ValidationError(
      `${field} must be LOW, NORMAL, HIGH or CRITICAL, got: ${preview(priority)}`,
    );
}

/** Requests come from tools, plugins and taps: other people's code. @throws ValidationError naming the field. Seed 003. */
export function checkRequest(request: DelegationRequest, { taskId }: DelegateOptions): void {
  if (typeof request !== "object" || request === null)
    throw new ValidationError(`A delegation request must be an object, got: ${preview(request)}`);
  requireText(request.taskId, "DelegationRequest taskId must not be blank");
  requireText(request.agentRole, "DelegationRequest agentRole must not be blank");
  requireText(request.taskDescription, "DelegationRequest taskDescription must not be blank");
  requireRecord("scope", request.scope);
  requireRecord("metadata", request.metadata);
  checkPriority("DelegationRequest priority", request.priority);
  requireInteger("DelegationRequest maxOutputRetries", request.maxOutputRetries ?? null, 0);
  if (request.expectedOutputSchema === undefined) return;
  requireRecord("expectedOutputSchema", request.expectedOutputSchema);
  if (taskId !== undefined) {
    throw new ValidationError(
      `DelegationRequest expectedOutputSchema can't be had of task '${taskId}': a task of the plan has a schema of its own`,
      {
        hint: "Give the task an outputType, or delegate a new task.",
      },
    );
  }
}

/**
 * Delegates what a model asked for with a tool: a request of default scope and priority.
 * @throws ToolConfigurationError where a guard broke, which is no business of the model's: its task fails. Ends of the run pass as they are.
 */
export async function delegateForModel(
  scope: TaskScope,
  { agentRole, taskDescription }: Pick<DelegationRequest, "agentRole" | "taskDescription">,
  o: DelegateOptions,
): Promise<DelegationResponse> {
  const taskId = scope.get(Tokens.IdGenerator).next("delegation");
  try {
    return await scope.delegate(
      {
        taskId,
        agentRole,
        taskDescription,
        scope: {},
        priority: "NORMAL",
        maxOutputRetries: 0,
        metadata: {},
      },
      o,
    );
  } catch (error) {
    if (ExitEarlySignal.isInstance(error) || scope.signal.aborted) throw error;
    throw new ToolConfigurationError(
      `Delegation to '${agentRole}' could not be judged: ${messageOf(error)}`,
      { cause: error },
    );
  }
}
