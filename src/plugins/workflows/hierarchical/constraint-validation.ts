import type { HierarchicalConstraints } from "../../../contracts/constraints.js";
import { ValidationError } from "../../../contracts/errors.js";
import { knownNames, preview } from "../../../contracts/validation.js";
import { canonicalRole } from "../../../contracts/role.js";

const WHERE = "HierarchicalConstraints.";

/**
 * Validates the constraints against the team. Without `roles`, checks only whether the constraints
 * are consistent. Agents that are not created yet have no roles.
 * @throws ValidationError for the first violated rule
 */
export function checkConstraints(
  constraints: HierarchicalConstraints,
  roles: readonly string[] | undefined,
): void {
  const { allowedWorkers, requiredWorkers, maxCallsPerWorker, requiredStages } = constraints;
  requireKnown("allowedWorkers", allowedWorkers, roles);
  requireAllowed("requiredWorkers", requiredWorkers, allowedWorkers);
  requireKnown("requiredWorkers", requiredWorkers, roles);
  requireKnown("maxCallsPerWorker", Object.keys(maxCallsPerWorker), roles);
  checkCaps(constraints);
  requireKnown("requiredStages", requiredStages.flat(), roles);
  checkStages(requiredStages);
  // such a stage could never be completed
  requireAllowed("requiredStages", requiredStages.flat(), allowedWorkers);
  checkReach(constraints);
}

function requireKnown(
  field: string,
  named: readonly string[],
  roles: readonly string[] | undefined,
): void {
  if (roles === undefined) return;
  const known = new Set(roles.map(canonicalRole));
  for (const role of named) {
    if (!known.has(canonicalRole(role)))
      throw new ValidationError(`${WHERE}${field} references unknown agent: '${role}'`, {
        hint: knownNames(role, roles),
      });
  }
}

function requireAllowed(field: string, named: readonly string[], allowed: readonly string[]): void {
  if (allowed.length === 0) return;
  const known = new Set(allowed.map(canonicalRole));
  for (const role of named) {
    if (!known.has(canonicalRole(role)))
      throw new ValidationError(
        `${WHERE}${field} contains '${role}' which is not in allowedWorkers`,
      );
  }
}

/**
 * Checks that the caps permit the required delegations. Each required worker needs one. Each worker
 * in the stages before the last required one also needs one.
 */
function checkReach({
  requiredWorkers,
  requiredStages,
  globalMaxDelegations: limit,
}: HierarchicalConstraints): void {
  if (limit === 0) return;
  const needed = new Set(requiredWorkers.map(canonicalRole));
  const last = requiredStages.findLastIndex((stage) =>
    stage.some((role) => needed.has(canonicalRole(role))),
  );
  for (const role of requiredStages.slice(0, Math.max(last, 0)).flat())
    needed.add(canonicalRole(role));
  if (needed.size > limit)
    throw new ValidationError(
      `${WHERE}globalMaxDelegations of ${limit} is too low: requiredWorkers need ${needed.size} delegations, those of earlier stages included`,
    );
}

function checkCaps({ maxCallsPerWorker, globalMaxDelegations }: HierarchicalConstraints): void {
  const seen = new Set<string>();
  for (const [role, cap] of Object.entries<unknown>(maxCallsPerWorker)) {
    if (!Number.isInteger(cap) || (cap as number) <= 0)
      throw new ValidationError(
        `${WHERE}maxCallsPerWorker value for '${role}' must be > 0, got: ${preview(cap)}`,
      );
    if (seen.has(canonicalRole(role)))
      throw new ValidationError(
        `${WHERE}maxCallsPerWorker names agent '${role}' twice: case and outer blanks make no difference`,
      );
    seen.add(canonicalRole(role));
  }
  const limit: unknown = globalMaxDelegations;
  if (!Number.isInteger(limit) || (limit as number) < 0)
    throw new ValidationError(`${WHERE}globalMaxDelegations must be >= 0, got: ${preview(limit)}`);
}

function checkStages(stages: readonly (readonly string[])[]): void {
  const stageOf = new Map<string, number>();
  stages.forEach((stage, index) => {
    for (const role of stage) {
      const key = canonicalRole(role);
      if ((stageOf.get(key) ?? index) !== index)
        throw new ValidationError(
          `${WHERE}requiredStages contains duplicate agent role '${role}' in multiple stages`,
        );
      stageOf.set(key, index);
    }
  });
}
