import { hostname } from "node:os";
import type { Claim, KeptRun, RunStart } from "../../../contracts/journal.js";
import type { HookRun } from "../../../contracts/run.js";
import type { RunKeeping } from "./durable-settings.js";
import { ValidationError } from "../../../contracts/errors.js";
import { requireUnsealed } from "../shared/sealed/sealed-data.js";
import { inputsAsJson, inputsHash } from "../shared/kept-inputs.js";
import type { KeptState } from "./run-journal.js";

/** Matches generated ids, which differ in each execution. */
const RANDOM_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const LONGEST_ID = 200;

/**
 * Opens the journal of a run that begins.
 * @throws ValidationError for an id that can't be stored, and for inputs or an ensemble that differ
 * from the stored run; RunInUseError; JournalError.
 */
export async function openJournalOf(
  run: HookRun,
  { journal, settings }: RunKeeping,
  o: { readonly signal: AbortSignal; readonly parentIsKept: boolean },
): Promise<KeptState> {
  checkId(run, o.parentIsKept);
  const start = startOf(run, settings.sealed);
  const known = RANDOM_ID.test(run.id) ? undefined : await journal.get(run.id);
  if (known !== undefined) {
    requireSame(known, start);
    if (known.status === "completed")
      return {
        claim: undefined,
        entries: await journal.entries(run.id),
        execution: known.executions + 1,
      };
  }
  const { leaseMs } = settings;
  const owner = `process ${process.pid} on ${hostname()}`;
  const claim = await journal.claim({ start, owner, leaseMs, signal: o.signal });
  if (o.signal.aborted || !beganAlike(claim.record, start)) await giveBack(claim, journal);
  o.signal.throwIfAborted();
  requireSame(claim.record, start);
  if (claim.record.status === "completed") {
    await giveBack(claim, journal); // the run has completed since the lookup
    return { claim: undefined, entries: claim.entries, execution: claim.record.executions };
  }
  // The claim lasts as long as the execution. Its entries are released as they are answered.
  return {
    claim: { ...claim, entries: [] },
    entries: claim.entries,
    execution: claim.record.executions,
  };
}

/** Releases the claim of a run that can't be continued in this process. */
async function giveBack(claim: Claim, journal: RunKeeping["journal"]): Promise<void> {
  const { status, waitsFor, result } = claim.record;
  await journal.release(claim, {
    status: status === "running" ? "failed" : status,
    ...(waitsFor !== undefined && { waitsFor }),
    ...(result !== undefined && { result }),
  });
}

function checkId({ id }: HookRun, parentIsKept: boolean): void {
  if (id.length < 1 || id.length > LONGEST_ID || /[\u0000-\u001f\u007f-\u009f]/.test(id))
    throw new ValidationError(
      `The id of a run that is kept has 1 to ${LONGEST_ID} characters and no control characters, got ${id.length}`,
      { hint: "Use a hash of what identifies the run." },
    );
  if (parentIsKept && RANDOM_ID.test(id))
    throw new ValidationError(
      "A run inside of a durable run needs a runId that is the same in each execution",
      { hint: "Pass { parent: ctx, runId: ctx.idempotencyKey }." },
    );
}

function startOf(run: HookRun, sealed: boolean): RunStart {
  const inputs = inputsAsJson(run.inputs);
  return {
    runId: run.id,
    ensemble: run.options.name ?? "ensemble",
    inputs: sealed ? inputs : run.redactValue(inputs),
    inputsHash: inputsHash(run.inputs),
    tags: run.tags,
    ...(run.parent !== undefined && { parentRunId: run.parent.id }),
  };
}

function beganAlike(known: KeptRun, start: RunStart): boolean {
  return known.inputsHash === start.inputsHash && known.ensemble === start.ensemble;
}

/** @throws ValidationError for a run that began differently; JournalError for an encrypted one. */
function requireSame(known: KeptRun, start: RunStart): void {
  if (beganAlike(known, start)) return;
  requireUnsealed(known);
  const what = known.ensemble === start.ensemble ? "inputs" : `ensemble ('${known.ensemble}')`;
  throw new ValidationError(
    `Run '${start.runId}' was started with other ${what} and can't be resumed with these`,
    { hint: "Use another runId, or the inputs and the ensemble that it began with." },
  );
}
