import { ValidationError } from "./errors.js";
import { checkOptions, preview, requireArray } from "./validation.js";

/** Options of constraints. Roles are compared without regard to case and outer blanks. */
export interface HierarchicalConstraintsOptions {
  /** Must get at least one successful delegation. */
  readonly requiredWorkers?: readonly string[] | undefined;
  /** Default: all. */
  readonly allowedWorkers?: readonly string[] | undefined;
  /** Approved delegations per role. */
  readonly maxCallsPerWorker?: Readonly<Record<string, number>> | undefined;
  /** Approved delegations in all; 0 (default) for no limit. */
  readonly globalMaxDelegations?: number | undefined;
  /** Groups of roles: every role of a group must have completed once before the next group may be called. */
  readonly requiredStages?: readonly (readonly string[])[] | undefined;
}

/** Limits on who a hierarchical team's manager may delegate to, how often and in which order. Checked by the framework, not by the prompt. */
export class HierarchicalConstraints {
  readonly requiredWorkers: readonly string[];
  readonly allowedWorkers: readonly string[];
  readonly maxCallsPerWorker: Readonly<Record<string, number>>;
  readonly globalMaxDelegations: number;
  readonly requiredStages: readonly (readonly string[])[];

  /** Shapes only; whether the roles exist is checked by `run()`. @throws ValidationError */
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
        `HierarchicalConstraints.${field} must hold role names, got: ${preview(role)}`,
      );
  }
}
