import type { EnsembleAccess } from "../contracts/ensemble-access.js";
import type { Journal } from "../contracts/journal.js";
import type { EnsembleOutput } from "../contracts/output.js";
import type { RunOptions } from "../contracts/run.js";
import type { KernelInternals } from "../kernel/kernel.js";
import { ValidationError } from "../contracts/errors.js";
import { Tokens } from "../contracts/tokens.js";

/**
 * Continues a run of the journal of the kernel.
 * @throws ValidationError without a journal, for an unknown run, and for inputs that were not
 * stored exactly.
 */
export async function resumeRun(
  internals: KernelInternals,
  ensemble: EnsembleAccess,
  { runId, options }: { readonly runId: string; readonly options: Omit<RunOptions, "runId"> },
): Promise<EnsembleOutput> {
  await ensemble.ready();
  const journal = journalIn(internals);
  const { resumeKept } = await import("../plugins/durability/shared/resume-run.js");
  return resumeKept(journal, ensemble, runId, options);
}

function journalIn({ bindings }: KernelInternals): Journal {
  if (bindings.providers(Tokens.Journal).length > 0) return bindings.get(Tokens.Journal);
  throw new ValidationError("Runs are resumed from a journal, and the ensemble has none", {
    hint: "Add durable() of agentensemble/durability to its plugins.",
  });
}
