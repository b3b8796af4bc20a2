import type { HierarchicalConstraints } from "../../../contracts/constraints.js";
import { canonicalRole } from "../../../contracts/role.js";

/**
 * Counts one run's delegations and enforces the constraints. Roles are compared without case and
 * surrounding spaces.
 */
export class ConstraintEnforcer {
  readonly #constraints: HierarchicalConstraints;
  readonly #allowed: ReadonlySet<string>;
  readonly #caps: ReadonlyMap<string, number>;
  readonly #stages: readonly ReadonlySet<string>[];
  readonly #approved = new Map<string, number>();
  readonly #completed = new Set<string>();
  #total = 0;

  constructor(constraints: HierarchicalConstraints) {
    this.#constraints = constraints;
    this.#allowed = new Set(constraints.allowedWorkers.map(canonicalRole));
    this.#caps = new Map(
      Object.entries(constraints.maxCallsPerWorker).map(([role, cap]) => [
        canonicalRole(role),
        cap,
      ]),
    );
    this.#stages = constraints.requiredStages.map((stage) => new Set(stage.map(canonicalRole)));
  }

  /** Returns why this worker may not be called now. Counts nothing. */
  refusal(role: string): string | undefined {
    const key = canonicalRole(role);
    if (this.#allowed.size > 0 && !this.#allowed.has(key))
      return `Agent '${role}' is not in the allowedWorkers list`;
    const { globalMaxDelegations: limit } = this.#constraints;
    if (limit > 0 && this.#total >= limit)
      return `Global delegation cap of ${limit} has been reached`;
    const cap = this.#caps.get(key);
    if (cap !== undefined && (this.#approved.get(key) ?? 0) >= cap)
      return `Agent '${role}' has reached its delegation cap of ${cap}`;
    const open = this.#openStageBefore(key);
    return open === undefined
      ? undefined
      : `Cannot delegate to '${role}': stage ${open} is not yet complete`;
  }

  /** Counts an accepted delegation. Caps also count delegations to workers that fail. */
  approve(role: string): void {
    const key = canonicalRole(role);
    this.#total++;
    this.#approved.set(key, (this.#approved.get(key) ?? 0) + 1);
  }

  /** Records that a worker has succeeded. */
  complete(role: string): void {
    this.#completed.add(canonicalRole(role));
  }

  /** Returns the constraints that a finished run has not met. */
  violations(): readonly string[] {
    const missing = this.#constraints.requiredWorkers.filter(
      (role) => !this.#completed.has(canonicalRole(role)),
    );
    return [...new Map(missing.map((role) => [canonicalRole(role), role])).values()].map(
      (role) => `Required worker '${role}' was never delegated a task`,
    );
  }

  /**
   * Returns the first incomplete stage before the role's own, counted from 1. Roles without a stage
   * do not wait.
   */
  #openStageBefore(key: string): number | undefined {
    const own = this.#stages.findIndex((stage) => stage.has(key));
    const open = this.#stages.findIndex(
      (stage, index) => index < own && [...stage].some((role) => !this.#completed.has(role)),
    );
    return open < 0 ? undefined : open + 1;
  }
}
