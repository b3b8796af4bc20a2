import type { DelegationRequest } from "../../contracts/delegation.js";
import type { TaskOutput } from "../../contracts/output.js";
import type { TaskFrame } from "../tasks/task-frame.js";
import { Task } from "../../contracts/task.js";
import { TaskAttempt } from "../tasks/task-attempt.js";
import { FinishedTask } from "../tasks/task-output.js";

/** Returns the task's context, then the scope as the delegator's output, if there is a scope. */
export function contextWithScope(
  { run, record: delegator }: TaskFrame,
  { scope, taskId }: DelegationRequest,
  ofTask: string,
): readonly TaskOutput[] | undefined {
  if (Object.keys(scope).length === 0) return undefined;
  const outputs = run.planned(ofTask).contextIds.map((id) => run.outputs.get(id));
  if (outputs.includes(undefined)) return undefined; // the task reports the missing output
  const nowMs = run.clock.monotonicMs();
  const task = new Task({ description: "scope" });
  const record = new TaskAttempt({
    base: run.base,
    taskId,
    parentTaskId: delegator.taskId,
    attempt: 1,
    task,
    agent: delegator.agent,
    agentRole: delegator.agentRole,
    startedMs: nowMs,
  });
  const value = { raw: JSON.stringify(scope), parsed: scope, hasValue: true };
  const given = new FinishedTask(record, task, value, nowMs);
  return [...outputs.filter((output) => output !== undefined), given];
}
