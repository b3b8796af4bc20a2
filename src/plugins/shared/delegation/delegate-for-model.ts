import type { DelegationRequest, DelegationResponse } from "../../../contracts/delegation.js";
import type { DelegateOptions, TaskScope } from "../../../contracts/run.js";
import { ToolConfigurationError, endsRun } from "../../../contracts/errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { messageOf } from "../../../util/errors.js";

/**
 * Delegates what a model asked for with a tool: a request of default scope and priority.
 * @throws ToolConfigurationError where a guard broke, which is no business of the model's: its task fails. Ends of the run pass as they are.
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
