import { AgentEnsembleError } from "../../../../contracts/errors.js";
import { RunStoreError } from "../../../../contracts/state-errors.js";
import { messageOf } from "../../../../util/errors.js";
import { FileInUseError } from "../../../../util/files/file-lock.js";
import { codeOf } from "../../../../util/objects.js";

const HINTS = new Map<unknown, string>([
  ["ENOSPC", "Make room on the disk. What could not be written is written again later."],
  ["EDQUOT", "Make room on the disk. What could not be written is written again later."],
  ["ELOOP", "Symbolic links in place of the files of runs are not followed."],
]);
const HINT = "Choose a folder that this process may read and write.";
const SECOND_WRITER = "Give each program its own folder, or share a database by RunStore.sql.";

/**
 * Converts errors of `work`.
 * @throws errors of the framework unchanged, otherwise a RunStoreError that names the failed step.
 */
export async function withStoreErrors<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (AgentEnsembleError.isInstance(cause)) throw cause;
    const hint =
      cause instanceof FileInUseError
        ? `${SECOND_WRITER} ${cause.hint}.`
        : (HINTS.get(codeOf(cause)) ?? HINT);
    throw new RunStoreError(`${what} failed: ${messageOf(cause)}`, { cause, hint });
  }
}
