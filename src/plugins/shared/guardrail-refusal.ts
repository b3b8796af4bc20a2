import type { Reject, TaskCall } from "../../contracts/hooks.js";
import { GuardrailViolationError } from "../../contracts/errors.js";
import { reject } from "../../contracts/hooks.js";
import { taskLabel } from "../../contracts/task-label.js";

export interface RefusalReason {
  readonly reason: string;
  /** The error that the guardrail threw, if that is the reason. */
  readonly cause?: unknown;
}

/** Returns the role of the agent that a guardrail guards; `(deterministic)` for a handler. */
export function guardedRole(call: TaskCall): string {
  return call.agent?.role ?? "(deterministic)";
}

/** Emits `guardrail_refused` and returns the verdict that refuses the task's input or output. */
export function guardrailRefusal(
  type: "INPUT" | "OUTPUT",
  call: TaskCall,
  { reason, cause }: RefusalReason,
  guardrailName: string | undefined,
): Reject {
  const { run, taskId, parentTaskId, attempt, retriesLeft = 0 } = call;
  if (run.listens("guardrail_refused"))
    run.emit({
      type: "guardrail_refused",
      taskId,
      ...(parentTaskId !== undefined && { parentTaskId }),
      agentRole: guardedRole(call),
      ...(guardrailName !== undefined && { guardrailName }),
      kind: type,
      message: reason,
      attempt,
      retriesLeft: type === "INPUT" ? 0 : retriesLeft,
    });
  return reject(
    new GuardrailViolationError(
      {
        type,
        violationMessage: reason,
        taskDescription: call.task.description,
        taskLabel: taskLabel(call.task),
        agentRole: guardedRole(call),
        guardrailName,
      },
      cause === undefined ? {} : { cause },
    ),
  );
}
