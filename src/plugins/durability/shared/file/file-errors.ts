import { AgentEnsembleError } from "../../../../contracts/errors.js";
import { JournalError } from "../../../../contracts/journal-errors.js";
import { messageOf } from "../../../../util/errors.js";
import { codeOf } from "../../../../util/objects.js";

const HINTS = new Map<unknown, string>([
  ["ENOSPC", "Free some disk space, then resume the run. It continues from its journal."],
  ["EDQUOT", "Free some disk space, then resume the run. It continues from its journal."],
  ["ELOOP", "Symbolic links in the place of a run's file are not followed."],
]);
const HINT = "Choose a folder that this process may read and write.";

/**
 * Converts errors of `work`.
 * @throws errors of the framework and the reason of the signal unchanged; otherwise a JournalError
 * that names the failed step.
 */
export async function withJournalErrors<T>(
  what: string,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (AgentEnsembleError.isInstance(cause)) throw cause;
    if (signal?.aborted === true && cause === signal.reason) throw cause;
    const hint = HINTS.get(codeOf(cause)) ?? HINT;
    throw new JournalError(`${what} failed: ${messageOf(cause)}`, { cause, hint });
  }
}
