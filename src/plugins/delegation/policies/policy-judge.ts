import type {
  DelegationPolicy,
  DelegationPolicyContext,
  DelegationRequest,
} from "../../../contracts/delegation.js";
import type { DelegationCall, Reject, Replace } from "../../../contracts/hooks.js";
import { reject, replace } from "../../../contracts/hooks.js";
import { Tokens } from "../../../contracts/tokens.js";
import { createToken } from "../../../contracts/token.js";
import { checkOptions, requireDuration } from "../../../contracts/validation.js";
import { canonicalRole } from "../../../contracts/role.js";
import { PolicyDecisions } from "./policy-decisions.js";

/** Options of {@link delegationPolicies}. */
export interface DelegationPoliciesOptions {
  /**
   * The time limit of each policy, in milliseconds. A policy that exceeds it refuses the
   * delegation. Default 30,000.
   */
  readonly timeoutMs?: number | undefined;
}

type Decision = { readonly refusal: string | undefined };

/**
 * Returns the reason why a delegation is refused independently of the policies. A workflow with its
 * own limits contributes it. Called before the policies. Does not count the delegation.
 */
const DelegationConstraint = createToken<(call: DelegationCall) => string | undefined>(
  "DelegationConstraint",
  "many",
);

const DEFAULT_TIMEOUT_MS = 30_000;
const REJECTED = "Delegation rejected by policy: ";

/**
 * Calls the policies in the lane that may change the request. Refuses in the lane that may refuse.
 */
export class PolicyJudge {
  readonly #policies: PolicyDecisions;
  /** Decisions by the judged request object, so that no other request can use them. */
  readonly #decisions = new WeakMap<DelegationRequest, Decision>();

  constructor(options: DelegationPoliciesOptions) {
    checkOptions("delegationPolicies", options, ["timeoutMs"]);
    requireDuration("delegationPolicies timeoutMs", options.timeoutMs);
    this.#policies = new PolicyDecisions(options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  }

  async ask(
    call: DelegationCall,
  ): Promise<void | Replace<{ readonly request: DelegationRequest }>> {
    const { run } = call;
    const policies = run.all(Tokens.DelegationPolicy);
    const constraints = run.all(DelegationConstraint);
    if (policies.length === 0 && constraints.length === 0) return undefined;
    for (const constraint of constraints) {
      const reason = constraint(call);
      if (reason !== undefined) return this.#decided(call.request, REJECTED + reason);
    }
    return this.#askPolicies(call, policies);
  }

  deliver({ run, request }: DelegationCall): void | Reject {
    const decision = this.#decisions.get(request);
    if (decision?.refusal !== undefined) return reject(decision.refusal);
    if (decision !== undefined || run.all(Tokens.DelegationPolicy).length === 0) return undefined;
    return reject(`${REJECTED}the request was changed after the policies had judged it`);
  }

  dispose(): void {
    this.#policies.dispose();
  }

  async #askPolicies(
    call: DelegationCall,
    policies: readonly DelegationPolicy[],
  ): Promise<Replace<{ readonly request: DelegationRequest }>> {
    let { request } = call;
    for (const policy of policies) {
      const decision = await this.#policies.ask(policy, request, policyContext(call));
      if (decision.type === "REJECT") return this.#decided(request, REJECTED + decision.reason);
      if (decision.type === "ALLOW") continue;
      request = corrected({ ...decision.request, taskId: call.request.taskId }, call);
      const refusal = misdirected(request, call);
      if (refusal !== undefined) return this.#decided(request, refusal);
    }
    return this.#decided(request, undefined);
  }

  /** Records the decision for a copy of the request, so that it applies to this delegation only. */
  #decided(
    request: DelegationRequest,
    refusal: string | undefined,
  ): Replace<{ readonly request: DelegationRequest }> {
    const judged = Object.freeze({ ...request });
    this.#decisions.set(judged, { refusal });
    return replace({ request: judged });
  }
}

function policyContext({
  delegatorRole: delegatingAgentRole,
  depth: currentDepth,
  maxDepth,
  availableWorkerRoles,
}: DelegationCall): DelegationPolicyContext {
  return { delegatingAgentRole, currentDepth, maxDepth, availableWorkerRoles };
}

/** Returns the request with the role in the spelling of the worker. */
function corrected(
  request: DelegationRequest,
  { availableWorkerRoles }: DelegationCall,
): DelegationRequest {
  const agentRole = availableWorkerRoles.find(
    (role) => canonicalRole(role) === canonicalRole(request.agentRole),
  );
  return agentRole === undefined ? request : { ...request, agentRole };
}

/** Returns the reason why the worker selected by a policy is invalid. */
function misdirected(
  { agentRole }: DelegationRequest,
  { availableWorkerRoles, delegatorRole }: DelegationCall,
): string | undefined {
  if (canonicalRole(agentRole) === canonicalRole(delegatorRole))
    return `A policy modified agentRole to '${agentRole}' which results in self-delegation. Choose a different target.`;
  if (availableWorkerRoles.includes(agentRole)) return undefined;
  return `A policy modified agentRole to '${agentRole}' but no agent found with that role. Available roles: [${availableWorkerRoles.join(", ")}]`;
}
