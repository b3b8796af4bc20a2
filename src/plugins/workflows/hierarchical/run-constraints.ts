import type { DelegationResponse } from "../../../contracts/delegation.js";
import type { AgentEnsembleError } from "../../../contracts/errors.js";
import type { After, DelegationCall, Reject, TaskCall } from "../../../contracts/hooks.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { RunInfo } from "../../../contracts/run-info.js";
import type { AnyTask } from "../../../contracts/task.js";
import type { ConstraintEnforcer } from "./constraint-enforcer.js";
import { reject } from "../../../contracts/hooks.js";
import { createToken } from "../../../contracts/token.js";
import { canonicalRole } from "../../../contracts/role.js";

/**
 * A function that returns why a constraint forbids a delegation, regardless of the policies.
 * Callers check it before the policies.
 */
export const DelegationConstraint = createToken<(call: DelegationCall) => string | undefined>(
  "DelegationConstraint",
  "many",
);

/**
 * The constraints of hierarchical runs in progress, for taps that receive only the info of a run.
 */
export class RunConstraints {
  readonly #enforcers = new WeakMap<RunInfo, ConstraintEnforcer>();

  readonly #managers = new WeakMap<AnyTask, () => AgentEnsembleError | undefined>();

  /** Rejects the manager's answer while `unmet` returns an error. */
  requireOf(manager: AnyTask, unmet: () => AgentEnsembleError | undefined): void {
    this.#managers.set(manager, unmet);
  }

  /**
   * Checks the manager's answer before any review. A run that fails anyway then needs no review.
   */
  judgeAnswer({ source, outcome }: After<TaskCall, "output", TaskOutput>): void | Reject {
    if (outcome !== "ok") return undefined;
    const error = this.#managers.get(source)?.();
    return error === undefined ? undefined : reject(error);
  }

  /**
   * Enforces these constraints for every delegation of a run, including those between peers. Two
   * managers in one run share the first one's enforcer.
   */
  enforce(run: RunInfo, enforcer: ConstraintEnforcer): ConstraintEnforcer {
    const known = this.#enforcers.get(run);
    if (known === undefined) this.#enforcers.set(run, enforcer);
    return known ?? enforcer;
  }

  /** The first check, before the policies. */
  refusal({ run, request }: DelegationCall): string | undefined {
    return this.#enforcers.get(run)?.refusal(request.agentRole);
  }

  /**
   * The final check of a request, which can't change any more. Only this check counts the request.
   */
  judge(call: DelegationCall): void | Reject {
    const { run, request, delegatorRole, availableWorkerRoles } = call;
    const enforcer = this.#enforcers.get(run);
    if (enforcer === undefined) return undefined;
    const role = canonicalRole(request.agentRole);
    const possible =
      role !== canonicalRole(delegatorRole) &&
      availableWorkerRoles.some((known) => canonicalRole(known) === role);
    if (!possible) return undefined; // rejected immediately after this, with a specific message
    const reason = enforcer.refusal(request.agentRole);
    if (reason !== undefined) return reject(`Delegation rejected by policy: ${reason}`);
    enforcer.approve(request.agentRole);
    return undefined;
  }

  /** Records a success that no other tap has rejected. */
  note({
    run,
    request,
    response,
    outcome,
  }: After<DelegationCall, "response", DelegationResponse>): void {
    if ((outcome === "ok" || outcome === "answered") && response?.status !== "FAILURE")
      this.#enforcers.get(run)?.complete(request.agentRole);
  }
}
