import type { KeptEntry } from "../../../contracts/journal.js";
import type { RunJournal } from "./run-journal.js";
import { callsIn, usageOfCall } from "./kept-values.js";
import { JournalMismatchError } from "../../../contracts/state-errors.js";

/** The treatment of an entry that differs from the current request. */
export type ChangeVerdict = "use" | "redo";

/**
 * Applies `onChange` to an entry that differs. With `redo`, the entries of its task become invalid.
 * @throws JournalMismatchError with `fail`. The run ends, and its entries are kept.
 */
export async function decideChange(
  journal: RunJournal,
  { task, entry, difference }: { task: string; entry: KeptEntry; difference: string },
): Promise<ChangeVerdict> {
  const { onChange } = journal.settings;
  if (onChange === "keep") {
    journal.index.use(entry);
    return "use";
  }
  const what = `Entry '${entry.key}' of run '${journal.run.id}' and the program differ: ${difference}`;
  if (onChange === "fail")
    throw journal.fail(
      new JournalMismatchError(journal.run.redact(what), {
        hint: 'Resume with the program that began the run, or choose onChange: "keep" (the entry counts) or "redo" (the task is done again).',
      }),
    );
  journal.requireOpen(`what entry '${entry.key}' answered`);
  await redo(journal, task);
  return "redo";
}

/**
 * Removes the entries of a task, except those used in this execution. The usage of the removed
 * entries still counts.
 */
async function redo(journal: RunJournal, task: string): Promise<void> {
  const { kept, void: gone } = journal.index.redo(task);
  const calls = callsIn(gone);
  const key = `redo:${task}~${journal.execution}`;
  await journal.write({ key, kind: "redo", task, value: { calls } });
  for (const { at: _, execution: __, ...entry } of kept) await journal.write(entry);
  journal.run.spent(calls.flatMap(usageOfCall));
}
