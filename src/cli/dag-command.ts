import type { OutputTerminal } from "./terminal.js";
import { printableText } from "../util/printable.js";
import { ExitCode } from "./exit-codes.js";
import { endEnsemble, loadEnsemble } from "./load-ensemble.js";

/** `agentensemble dag <file>`: prints the tasks and their dependencies. */
export async function dagCommand(
  file: string,
  o: { readonly json?: boolean },
  terminal: OutputTerminal,
): Promise<number> {
  terminal.keepOutputForResults();
  const ensemble = await loadEnsemble(file);
  try {
    await (o.json === true
      ? terminal.json(ensemble.toDag())
      : terminal.text(printableText(ensemble.toMermaid())));
  } finally {
    await endEnsemble(ensemble);
  }
  return ExitCode.OK;
}
