import { ValidationError } from "./errors.js";
import { checkOptions, preview, requireArray } from "./validation.js";

/**
 * Options of constraints. Comparisons of roles ignore case, and blanks at the start and the end.
 */
export interface HierarchicalConstraintsOptions {
  /** The roles that need at least one successful delegation. */
  readonly requiredWorkers?: readonly string[] | undefined;
  /** The roles that may receive delegations. Default: all roles. */
  readonly allowedWorkers?: readonly string[] | undefined;
  /** Limit of approved delegations per role. */
  readonly maxCallsPerWorker?: Readonly<Record<string, number>> | undefined;
  /** Limit of approved delegations in total. 0 (default): no limit. */
  readonly globalMaxDelegations?: number | undefined;
  /**
   * Groups of roles. Every role of a group must have completed once before a delegation to the next
   * group.
   */
  readonly requiredStages?: readonly (readonly string[])[] | undefined;
}

/**
 * Limits on the delegations of a hierarchical team's manager: to which roles, how often and in
 * which order. The framework enforces the limits, independently of the prompt.
 */
export class HierarchicalConstraints {
  readonly requiredWorkers: readonly string[];
  readonly allowedWorkers: readonly string[];
  readonly maxCallsPerWorker: Readonly<Record<string, number>>;
  readonly globalMaxDelegations: number;
  readonly requiredStages: readonly (readonly string[])[];

  /** Checks shapes only. `run()` checks whether the roles exist. @throws ValidationError */
  constructor(o: HierarchicalConstraintsOptions) {
    checkOptions("HierarchicalConstraints", o, [
      "requiredWorkers",
      "allowedWorkers",
      "maxCallsPerWorker",
      "globalMaxDelegations",
      "requiredStages",
    ]);
    checkRoles("requiredWorkers", o.requiredWorkers);
    checkRoles("allowedWorkers", o.allowedWorkers);
    requireArray("HierarchicalConstraints.requiredStages", o.requiredStages);
    for (const stage of o.requiredStages ?? []) checkRoles("requiredStages", stage);
    if (
      o.maxCallsPerWorker !== undefined &&
      (typeof o.maxCallsPerWorker !== "object" || o.maxCallsPerWorker === null)
    ) {
      throw new ValidationError(
        `HierarchicalConstraints.maxCallsPerWorker must be an object, got: ${preview(o.maxCallsPerWorker)}`,
      );
    }
    this.requiredWorkers = Object.freeze([...(o.requiredWorkers ?? [])]);
    this.allowedWorkers = Object.freeze([...(o.allowedWorkers ?? [])]);
    this.maxCallsPerWorker = Object.freeze({ ...o.maxCallsPerWorker });
    this.globalMaxDelegations = o.globalMaxDelegations ?? 0;
    this.requiredStages = Object.freeze(
      (o.requiredStages ?? []).map((stage) => Object.freeze([...stage])),
    );
    Object.freeze(this);
  }
}

function checkRoles(field: string, roles: unknown): void {
  requireArray(`HierarchicalConstraints.${field}`, roles);
  for (const role of (roles ?? []) as readonly unknown[]) {
    if (typeof role !== "string" || role.trim() === "")
      throw new ValidationError(
        `HierarchicalConstraints.${field} must contain role names, got: ${preview(role)}`,
      );
  }
}
