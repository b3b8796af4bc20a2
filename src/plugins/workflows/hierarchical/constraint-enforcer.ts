import type { HierarchicalConstraints } from "../../../contracts/constraints.js";
import { canonicalRole } from "../../../contracts/agent.js";

/** Keeps the account of one run's delegations and holds them to the constraints. Roles count the same in every spelling. */
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

  /** Why this worker may not be asked now. Counts nothing. */
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

  /** Counts a delegation that nothing stands against; whether its worker succeeds makes no difference to the caps. */
  approve(role: string): void {
    const key = canonicalRole(role);
    this.#total++;
    this.#approved.set(key, (this.#approved.get(key) ?? 0) + 1);
  }

  /** Notes that a worker has succeeded. */
  complete(role: string): void {
    this.#completed.add(canonicalRole(role));
  }

  /** What a finished run has left undone. */
  violations(): readonly string[] {
    const missing = this.#constraints.requiredWorkers.filter(
      (role) => !this.#completed.has(canonicalRole(role)),
    );
    return [...new Map(missing.map((role) => [canonicalRole(role), role])).values()].map(
      (role) => `Required worker '${role}' was never delegated a task`,
    );
  }

  /** The first stage before the role's own that is not complete, counted from 1. Roles in no stage wait for none. */
  #openStageBefore(key: string): number | undefined {
    const own = this.#stages.findIndex((stage) => stage.has(key));
    const open = this.#stages.findIndex(
      (stage, index) => index < own && [...stage].some((role) => !this.#completed.has(role)),
    );
    return open < 0 ? undefined : open + 1;
  }
}
