import type {
  DelegationPolicy,
  DelegationPolicyContext,
  DelegationRequest,
} from "../../../contracts/delegation.js";
import { endsRun } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { Cancellation } from "../../../util/abort/cancellation.js";
import { settleWithin } from "../../../util/abort/timeouts.js";
import { isObject } from "../../../util/objects.js";
import { hasText } from "../../../util/text.js";
import { messageOf } from "../../../util/errors.js";

/** The checked decision of a policy, in one of three forms. */
export type PolicyDecision =
  | { readonly type: "ALLOW" }
  | { readonly type: "REJECT"; readonly reason: string }
  | { readonly type: "MODIFY"; readonly request: DelegationRequest };

/**
 * Calls policies within a time limit. Refuses if a policy throws, exceeds the limit or returns an
 * invalid decision.
 */
export class PolicyDecisions {
  readonly #timeoutMs: number;
  /** Ends the wait for policies that have not decided yet. */
  #waiting = new Cancellation();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Asks one policy. @throws ExitEarlySignal if the policy ends the run. */
  async ask(
    policy: DelegationPolicy,
    request: DelegationRequest,
    context: DelegationPolicyContext,
  ): Promise<PolicyDecision> {
    const name = policy.name === "" ? "the policy" : `the policy '${policy.name}'`;
    const reason = `${name} did not decide within ${this.#timeoutMs} ms`;
    const limit = new Cancellation(this.#waiting).expire(this.#timeoutMs, () => new Error(reason));
    try {
      return await settleWithin(decideByPolicy(name, policy, request, context), limit);
    } catch (error) {
      // The error is the signal that ends the run.
      if (limit.reason === undefined || error !== limit.reason) throw error;
      return { type: "REJECT", reason };
    } finally {
      limit.dispose();
    }
  }

  /** Stops the timers of policies that have not decided. */
  dispose(): void {
    const waiting = this.#waiting;
    this.#waiting = new Cancellation(); // for the next start of the plugin
    waiting.cancel(new Error("The policies are no longer waited for"));
  }
}

async function decideByPolicy(
  name: string,
  policy: DelegationPolicy,
  request: DelegationRequest,
  context: DelegationPolicyContext,
): Promise<PolicyDecision> {
  let answer: unknown;
  try {
    answer = await policy(request, context);
  } catch (error) {
    if (endsRun(error)) throw error;
    return { type: "REJECT", reason: `${name} threw: ${messageOf(error)}` };
  }
  return (
    decisionOf(answer) ?? {
      type: "REJECT",
      reason: `${name} returned ${preview(answer)}; it must return DelegationPolicyResult.allow(), reject(reason) or modify(request)`,
    }
  );
}

/** Returns the checked decision. Returns `undefined` for a value that is not a decision. */
function decisionOf(answer: unknown): PolicyDecision | undefined {
  const { type, reason, request } =
    typeof answer === "object" && answer !== null
      ? (answer as {
          readonly type?: unknown;
          readonly reason?: unknown;
          readonly request?: unknown;
        })
      : {}; // each field is checked
  if (type === "ALLOW") return { type };
  if (type === "REJECT")
    return {
      type,
      reason:
        typeof reason === "string" && reason.trim() !== ""
          ? reason
          : "the policy returned no reason",
    };
  return type === "MODIFY" && isRequest(request) ? { type, request } : undefined;
}

function isRequest(value: unknown): value is DelegationRequest {
  if (!isObject(value)) return false;
  const {
    agentRole,
    taskDescription,
    scope,
    metadata,
    priority,
    maxOutputRetries,
    expectedOutputSchema,
  } = value as Partial<Record<keyof DelegationRequest, unknown>>; // each field is checked
  return (
    hasText(agentRole) &&
    hasText(taskDescription) &&
    isObject(scope) &&
    isObject(metadata) &&
    ["LOW", "NORMAL", "HIGH", "CRITICAL"].includes(priority as string) &&
    Number.isInteger(maxOutputRetries) &&
    (maxOutputRetries as number) >= 0 &&
    (expectedOutputSchema === undefined || isObject(expectedOutputSchema))
  );
}
