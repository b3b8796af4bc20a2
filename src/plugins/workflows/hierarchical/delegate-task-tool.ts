import type { DelegationResponse } from "../../../contracts/delegation.js";
import type { TaskScope } from "../../../contracts/run.js";
import type { RunInfo } from "../../../contracts/run-info.js";
import type { Tool, ToolContext } from "../../../contracts/tool.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { Assignments } from "./assignments.js";
import type { DelegateTaskInput } from "./delegate-task-input.js";
import type { ManagerTemplateName } from "./hierarchical-prompts.js";
import { tool } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { preview } from "../../../contracts/validation.js";
import { canonicalRole } from "../../../contracts/role.js";
import { workerOf } from "../../../contracts/delegation.js";
import { delegateForModel } from "../../shared/delegation/delegate-for-model.js";
import { delegateTaskInput } from "./delegate-task-input.js";

/** The dependencies of the tool. */
export interface DelegateTaskParts {
  readonly roles: readonly string[];
  readonly assignments: Assignments;
  readonly texts: PromptTexts<ManagerTemplateName>;
  /** Called before the first delegation. */
  readonly onStart: (run: RunInfo) => void;
}

/** Creates the manager's only tool. It delegates a listed task, or a new subtask, to a worker. */
export function delegateTaskTool(parts: DelegateTaskParts): Tool<DelegateTaskInput> {
  const { roles, assignments, texts } = parts;
  return tool({
    name: "delegateTask",
    description: texts.render("manager.tool", {}),
    replay: "run",
    delegates: true,
    input: delegateTaskInput(roles, assignments.count, texts),
    execute: (input, ctx) => assign(input, ctx, parts),
  });
}

async function assign(
  input: DelegateTaskInput,
  { scope, toolCallId }: ToolContext,
  parts: DelegateTaskParts,
): Promise<ToolResult> {
  const { agentRole, taskDescription, taskNumber } = input;
  const { assignments, texts } = parts;
  if (agentRole.trim() === "") return ToolResult.failure("agentRole must not be null or blank.");
  if (taskDescription.trim() === "")
    return ToolResult.failure("taskDescription must not be null or blank.");
  const listed = taskNumber === undefined ? undefined : assignments.task(taskNumberOf(taskNumber));
  if (taskNumber !== undefined && listed === undefined)
    return ToolResult.failure(
      texts.render("manager.unknownTask", { count: assignments.count, given: preview(taskNumber) }),
    );
  const missing = listed === undefined ? [] : assignments.missingFor(listed);
  if (missing.length > 0) {
    const refusal = texts.render("manager.missingContext", {
      number: taskNumberOf(taskNumber),
      missing: missing.join(", "),
    });
    await delegateForModel(scope, input, { toolCallId, refusal });
    return ToolResult.failure(refusal);
  }
  parts.onStart(scope.run);
  const finish = assignments.begin();
  const wanted =
    listed === undefined
      ? { expectedOutput: texts.render("manager.workerExpectedOutput", {}) }
      : { taskId: listed.id };
  const response = await delegateForModel(scope, input, { ...wanted, toolCallId });
  if (response.status !== "FAILURE") finish(listed, workerOf(response)?.output);
  return delegationResult(response, input, scope, parts);
}

function taskNumberOf(value: unknown): number {
  return typeof value === "string" && /^\s*\d+\s*$/.test(value)
    ? Number(value)
    : typeof value === "number"
      ? value
      : Number.NaN;
}

/**
 * Returns the worker's text or its error, and the progress of the list. If no worker was called,
 * returns the guard's message.
 */
function delegationResult(
  response: DelegationResponse,
  { agentRole }: DelegateTaskInput,
  scope: TaskScope,
  { roles, assignments, texts }: DelegateTaskParts,
): ToolResult {
  const reason = response.errors.join("; ");
  const list = (numbers: readonly number[]): string =>
    numbers.length === 0 ? "none" : numbers.join(", ");
  const progress = texts.render("manager.progress", {
    done: list(assignments.done),
    open: list(assignments.open),
  });
  if (response.status !== "FAILURE")
    return ToolResult.success(
      scope.format(response.parsedOutput, response.rawOutput ?? "") + progress,
    );
  if (workerOf(response) !== undefined) return ToolResult.failure(reason + progress);
  const known = scope.workers.some(({ role }) => canonicalRole(role) === canonicalRole(agentRole));
  return ToolResult.success(
    known
      ? reason
      : `No agent found with role '${agentRole}'. Available roles: [${roles.join(", ")}]`,
  );
}
