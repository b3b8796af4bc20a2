import { join, resolve } from "node:path";
import { ValidationError } from "../../../contracts/errors.js";
import { requireText } from "../../../contracts/validation.js";
import { messageOf } from "../../../util/errors.js";
import { writeFileAtomically } from "../../../util/files/atomic-write.js";
import { fileNameOfId } from "../../../util/files/id-file-name.js";

/** Returns the file name of a run, without folder. Different ids have different files. */
export function traceFileName(ensembleId: string, extension: ".trace.json" | ".dag.json"): string {
  return fileNameOfId(ensembleId, extension, "run");
}

/**
 * Writes a text, in pieces, to a new file or replaces an older one atomically.
 * @throws ValidationError that names the path if it can't be written.
 */
export async function writeTraceFile(path: string, pieces: Iterable<string>): Promise<void> {
  requireText(path, "The path of a trace file must not be blank");
  await writeWhole(resolve(path), pieces);
}

/**
 * Writes files into the folder of a trace, `{name of the trace}.files`. Does nothing without files.
 * @throws ValidationError that names the path if it can't be written.
 */
export async function writeTraceFolder(
  tracePath: string,
  files: readonly { readonly name: string; read(): Uint8Array }[],
): Promise<void> {
  const folder = resolve(tracePath).replace(/(?:\.trace)?(?:\.json)?$/, ".files");
  for (const file of files) await writeWhole(join(folder, file.name), file.read());
}

async function writeWhole(target: string, content: Uint8Array | Iterable<string>): Promise<void> {
  try {
    await writeFileAtomically(target, content);
  } catch (cause) {
    throw new ValidationError(`Cannot write the trace to '${target}': ${messageOf(cause)}`, {
      cause,
      hint: "Choose a path that this process may write to.",
    });
  }
}
