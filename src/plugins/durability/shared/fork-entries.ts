import type { KeptEntry } from "../../../contracts/journal.js";
import { ValidationError } from "../../../contracts/errors.js";
import { knownNames } from "../../../contracts/validation.js";

/** The task of entries that do not belong to a task. */
const NO_TASK = "run";

/**
 * Returns the entries of a run without those of the task `from` and of all later tasks. Without
 * `from`, returns all entries.
 * @throws ValidationError for a task without an entry.
 */
export function entriesBefore(
  entries: readonly KeptEntry[],
  from: string | undefined,
  runId: string,
): readonly KeptEntry[] {
  if (from === undefined) return entries;
  const ends = endsOf(entries);
  const removed = entries.filter(({ task }) => isPartOf(task, from));
  if (removed.length === 0) {
    const names = [...new Set(entries.map(({ task }) => identityAt(task)))];
    throw new ValidationError(`Run '${runId}' has no task '${from}'. ${knownNames(from, names)}`);
  }
  const cut = Math.min(...removed.map(({ task }) => ends.get(task) ?? entries.length));
  return entries.filter(({ task }, index) => {
    if (isPartOf(task, from)) return false;
    return task === NO_TASK ? index < cut : (ends.get(task) ?? entries.length) < cut;
  });
}

/**
 * Returns the ends of the attempts of tasks. The end of an attempt is its output, or the output of
 * its successor.
 */
function endsOf(entries: readonly KeptEntry[]): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  entries.forEach(({ kind, task }, index) => {
    if (kind !== "task") return;
    const identity = identityAt(task);
    const attempt = attemptOf(task);
    for (const entry of entries)
      if (
        identityAt(entry.task) === identity &&
        attemptOf(entry.task) <= attempt &&
        !ends.has(entry.task)
      )
        ends.set(entry.task, index);
  });
  return ends;
}

/** Returns whether a place belongs to the task, or to a delegated task of it. */
function isPartOf(task: string, name: string): boolean {
  return identityAt(task) === name || task.startsWith(`${name}@`);
}

function identityAt(task: string): string {
  const at = task.lastIndexOf("@");
  return at < 0 ? task : task.slice(0, at);
}

function attemptOf(task: string): number {
  return Number.parseInt(task.slice(task.lastIndexOf("@") + 1), 10);
}
