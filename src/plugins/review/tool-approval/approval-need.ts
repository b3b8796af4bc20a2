import type { ToolCallContext } from "../../../contracts/hooks.js";
import type { ApprovalPolicy } from "../../../contracts/review.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { ReviewError } from "../../../contracts/state-errors.js";
import { withTimeout } from "../../../util/abort/timeouts.js";
import { endOfWait } from "../shared/end-of-wait.js";
import { messageOf } from "../../../util/errors.js";

/** The time limit of one policy, in milliseconds. */
const POLICY_LIMIT_MS = 30_000;
const UNDECIDED = Symbol("undecided");

/**
 * Whether the tool requires an approval. Any value except `false` requires one, so an invalid
 * result approves nothing.
 * @throws ReviewError if the function of the tool throws.
 */
export function toolWantsApproval({ tool, input }: ToolCallContext): boolean {
  if (tool.needsApproval === undefined) return tool.requireApproval === true;
  return ofTool(tool.name, "needsApproval", () => tool.needsApproval?.(input)) !== false;
}

/** Returns the result of the function of a tool. @throws ReviewError if it throws. */
export function ofTool<T>(toolName: string, field: string, say: () => T): T {
  try {
    return say();
  } catch (error) {
    throw new ReviewError(
      `Tool '${toolName}': ${field} failed, so the call is not made: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

/**
 * Returns `true` or the reason of the first policy that requires an approval. Returns `false` if
 * none requires it.
 * @throws ReviewError if a policy throws.
 */
export async function policiesWantApproval(
  policies: readonly ApprovalPolicy[],
  call: ToolCallContext,
): Promise<string | boolean> {
  for (const policy of policies) {
    const wish: unknown = await askApprovalPolicy(policy, call);
    if (wish !== false) return typeof wish === "string" ? wish : true;
  }
  return false;
}

async function askApprovalPolicy(policy: ApprovalPolicy, call: ToolCallContext): Promise<unknown> {
  let wish: unknown;
  try {
    wish = await withTimeout<unknown, symbol>(() => policy.needsApproval(call), {
      ms: POLICY_LIMIT_MS,
      late: () => UNDECIDED,
      signal: call.signal,
      ended: () => endOfWait(call.signal),
    });
  } catch (error) {
    if (call.signal.aborted && AgentEnsembleError.isInstance(error)) throw error;
    throw new ReviewError(
      `Approval policy '${policy.name}' failed, so the call of tool '${call.tool.name}' is not made: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
  if (wish === UNDECIDED)
    throw new ReviewError(
      `Approval policy '${policy.name}' did not decide within ${POLICY_LIMIT_MS} ms`,
    );
  return wish;
}
