import type { DelegationResponse } from "../../../contracts/delegation.js";
import type { AgentEnsembleError } from "../../../contracts/errors.js";
import type { After, DelegationCall, Reject, TaskCall } from "../../../contracts/hooks.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { RunInfo } from "../../../contracts/run-info.js";
import type { AnyTask } from "../../../contracts/task.js";
import type { ConstraintEnforcer } from "./constraint-enforcer.js";
import { reject } from "../../../contracts/hooks.js";
import { createToken } from "../../../contracts/token.js";
import { canonicalRole } from "../../../contracts/agent.js";

/** Why a delegation is out of the question whatever the policies say; whoever asks policies asks this first. */
export const DelegationConstraint = createToken<(call: DelegationCall) => string | undefined>(
  "DelegationConstraint",
  "many",
);

/** The constraints of hierarchical runs in progress, for taps that know a run only by its info. */
export class RunConstraints {
  readonly #enforcers = new WeakMap<RunInfo, ConstraintEnforcer>();

  readonly #managers = new WeakMap<AnyTask, () => AgentEnsembleError | undefined>();

  /** Refuses the manager's answer while `unmet` gives an error. */
  requireOf(manager: AnyTask, unmet: () => AgentEnsembleError | undefined): void {
    this.#managers.set(manager, unmet);
  }

  /** Judges the manager's answer before anybody is asked about it: a run that fails anyway asks nobody. */
  judgeAnswer({ source, outcome }: After<TaskCall, "output", TaskOutput>): void | Reject {
    if (outcome !== "ok") return undefined;
    const error = this.#managers.get(source)?.();
    return error === undefined ? undefined : reject(error);
  }

  /** Holds every delegation of a run to these constraints, peers' ones too. Two managers in one run share the account of the first. */
  enforce(run: RunInfo, enforcer: ConstraintEnforcer): ConstraintEnforcer {
    const known = this.#enforcers.get(run);
    if (known === undefined) this.#enforcers.set(run, enforcer);
    return known ?? enforcer;
  }

  /** A first look, before the policies are asked. */
  refusal({ run, request }: DelegationCall): string | undefined {
    return this.#enforcers.get(run)?.refusal(request.agentRole);
  }

  /** The last word on a request that nothing changes any more; only here it is counted. */
  judge(call: DelegationCall): void | Reject {
    const { run, request, delegatorRole, availableWorkerRoles } = call;
    const enforcer = this.#enforcers.get(run);
    if (enforcer === undefined) return undefined;
    const role = canonicalRole(request.agentRole);
    const possible =
      role !== canonicalRole(delegatorRole) &&
      availableWorkerRoles.some((known) => canonicalRole(known) === role);
    if (!possible) return undefined; // refused right after this, with words of its own
    const reason = enforcer.refusal(request.agentRole);
    if (reason !== undefined) return reject(`Delegation rejected by policy: ${reason}`);
    enforcer.approve(request.agentRole);
    return undefined;
  }

  /** Notes a success that all others have let pass. */
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
