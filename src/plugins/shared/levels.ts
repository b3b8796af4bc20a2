import { ValidationError } from "../../contracts/errors.js";

/** A step that waits for others. */
export interface OrderedStep {
  readonly id: string;
  /** Ids of the steps that this step waits for. Unknown ids count as done. */
  readonly after: readonly string[];
}

/**
 * Returns the level of each step: one more than the highest level of its predecessors.
 * @throws ValidationError for a cycle.
 */
export function levelsOf(steps: readonly OrderedStep[]): ReadonlyMap<string, number> {
  const open = new Map<string, number>();
  const waiting = new Map<string, string[]>();
  const ids = new Set(steps.map(({ id }) => id));
  for (const { id, after } of steps) {
    const before = [...new Set(after)].filter((other) => ids.has(other));
    open.set(id, before.length);
    for (const other of before) {
      const dependents = waiting.get(other);
      if (dependents === undefined) waiting.set(other, [id]);
      else dependents.push(id);
    }
  }
  const levels = new Map<string, number>();
  let ready = steps.filter(({ id }) => open.get(id) === 0).map(({ id }) => id);
  for (let level = 0; ready.length > 0; level++) {
    const next: string[] = [];
    for (const id of ready) {
      levels.set(id, level);
      for (const dependent of waiting.get(id) ?? []) {
        const left = (open.get(dependent) ?? 0) - 1;
        open.set(dependent, left);
        if (left === 0) next.push(dependent);
      }
    }
    ready = next;
  }
  const stuck = steps.find(({ id }) => !levels.has(id));
  if (stuck !== undefined)
    throw new ValidationError(`Circular context dependency detected involving task: '${stuck.id}'`);
  return levels;
}

/**
 * Returns the longest chain of steps that wait for each other. Of several longest chains, returns
 * the one with the last steps.
 */
export function criticalPathOf(
  steps: readonly OrderedStep[],
  levels: ReadonlyMap<string, number>,
): readonly string[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const place = new Map(steps.map(({ id }, index) => [id, index]));
  const last = (ids: readonly string[], level: number): string | undefined =>
    ids.reduce<string | undefined>(
      (best, id) =>
        levels.get(id) === level &&
        (best === undefined || (place.get(id) ?? 0) > (place.get(best) ?? 0))
          ? id
          : best,
      undefined,
    );
  let level = steps.reduce((highest, { id }) => Math.max(highest, levels.get(id) ?? 0), 0);
  const path: string[] = [];
  let id = last([...byId.keys()], level);
  while (id !== undefined) {
    path.unshift(id);
    id = level === 0 ? undefined : last(byId.get(id)?.after ?? [], --level);
  }
  return path;
}
