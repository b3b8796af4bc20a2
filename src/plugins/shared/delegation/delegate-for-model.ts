import type { DelegationRequest, DelegationResponse } from "../../../contracts/delegation.js";
import type { DelegateOptions, TaskScope } from "../../../contracts/run.js";
import { ToolConfigurationError, endsRun } from "../../../contracts/errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { messageOf } from "../../../util/errors.js";

/**
 * Executes a delegation that a model requested with a tool, with the default scope and priority.
 * @throws ToolConfigurationError if a guard failed. It fails the task and is not shown to the
 * model. Errors that end the run are unchanged.
 */
export async function delegateForModel(
  scope: TaskScope,
  {
    agentRole,
    taskDescription,
    mode,
  }: Pick<DelegationRequest, "agentRole" | "taskDescription" | "mode">,
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
        ...(mode !== undefined && { mode }),
      },
      o,
    );
  } catch (error) {
    if (endsRun(error) || scope.signal.aborted) throw error;
    throw new ToolConfigurationError(
      `Delegation to '${agentRole}' could not be judged: ${messageOf(error)}`,
      { cause: error },
    );
  }
}
