import type {
  KeptEntry,
  KeptRun,
  KeptRunFilter,
  KeptRuns,
  RunStatus,
} from "../contracts/journal.js";
import type { OutputTerminal } from "./terminal.js";
import type { StoreArguments } from "./store.js";
import { ValidationError } from "../contracts/errors.js";
import { requireOneOf } from "../contracts/validation.js";
import { printableLine } from "../util/printable.js";
import { systemClock } from "../util/runtime.js";
import { counted } from "../util/text.js";
import { ageOf, tagsOf, textGiven } from "./arguments.js";
import { doubtsIn } from "./doubts.js";
import { ExitCode } from "./exit-codes.js";
import { runLine, runText } from "./runs-text.js";
import { shellWord } from "./shell-word.js";
import { Store } from "./store.js";

const STATUSES = ["running", "waiting", "interrupted", "completed", "failed", "cancelled"];

/** Options of all commands of stored runs. */
export interface RunsArguments extends StoreArguments {
  readonly json?: boolean | undefined;
}

/** The filter of a command. */
export interface FilterArguments extends RunsArguments {
  readonly status?: string | undefined;
  readonly ensemble?: string | undefined;
  readonly tag?: readonly string[] | undefined;
  readonly olderThan?: string | undefined;
  readonly poisoned?: boolean | undefined;
}

/** @throws ValidationError for an unknown status, a tag without a value, and an invalid age. */
function filterOf({ status, ensemble, tag, olderThan, poisoned }: FilterArguments): KeptRunFilter {
  requireOneOf("--status", status, STATUSES);
  return {
    ...(status !== undefined && { status: status as RunStatus }), // checked
    ...(ensemble !== undefined && { ensemble }),
    ...(tag !== undefined && { tags: tagsOf(tag) }),
    ...(olderThan !== undefined && { updatedBefore: before(olderThan) }),
    ...(poisoned !== undefined && { poisoned }),
  };
}

function before(age: string): string {
  const ms = systemClock.now().getTime() - ageOf("--older-than", age);
  return new Date(Math.max(0, ms)).toISOString();
}

/** @throws ValidationError if the store has no such run. */
export async function knownRun(
  runs: KeptRuns,
  runId: string,
  { shown, option }: Store,
): Promise<KeptRun> {
  const run = await runs.get(runId);
  if (run !== undefined) return run;
  throw new ValidationError(`There is no run '${runId}' in ${shown}`, {
    hint: `See which there are: agentensemble runs list${option}`,
  });
}

/** `agentensemble runs list`: lists stored runs. */
export async function runsListCommand(
  o: FilterArguments & { readonly limit?: string | undefined; readonly after?: string | undefined },
  terminal: OutputTerminal,
): Promise<number> {
  const { limit, after } = o;
  const filter: KeptRunFilter = {
    ...filterOf(o),
    ...(limit !== undefined && { limit: Number(limit) }), // checked by the journal
    ...(after !== undefined && { after }),
  };
  const store = new Store(o);
  const page = await store.use((runs) => runs.list(filter));
  if (o.json === true) await terminal.json(page);
  else if (page.runs.length === 0) await terminal.message(`No such runs in ${store.shown}`);
  else await terminal.text(page.runs.map((run) => runLine(run, terminal.paint)).join("\n"));
  if (o.json !== true && page.next !== undefined)
    await terminal.message(`There are more: add --after ${shellWord(page.next)}`);
  return ExitCode.OK;
}

/** `agentensemble runs show`: prints a stored run. */
export async function runsShowCommand(
  runId: string,
  o: RunsArguments & { readonly entries?: boolean | undefined },
  terminal: OutputTerminal,
): Promise<number> {
  const store = new Store(o);
  const { run, entries, reviews } = await store.use(async (runs) => ({
    run: await knownRun(runs, runId, store),
    entries: await runs.entries(runId),
    reviews: (await runs.reviews.pending()).filter((review) => review.runId === runId),
  }));
  const inDoubt = run.owner === undefined ? doubtsIn(entries) : [];
  if (o.json === true)
    await terminal.json({ run, reviews, inDoubt, ...(o.entries === true && { entries }) });
  else {
    await terminal.text(runText({ run, reviews, inDoubt }, store, terminal.paint));
    if (o.entries === true) await terminal.text(entries.map(journalLine).join("\n"));
  }
  return ExitCode.OK;
}

function journalLine({ at, execution, kind, key }: KeptEntry): string {
  return `  ${printableLine(at, 40)} execution ${execution} ${kind.padEnd(6)} ${printableLine(key)}`;
}

/** `agentensemble runs cancel`: cancels a stored run. */
export async function runsCancelCommand(
  runId: string,
  o: RunsArguments & { readonly reason?: string | undefined },
  terminal: OutputTerminal,
): Promise<number> {
  const store = new Store(o);
  const { isCancelled, run } = await store.use(async (runs) => {
    await knownRun(runs, runId, store);
    const taken = await runs.cancel(runId, o.reason);
    return { isCancelled: taken, run: await knownRun(runs, runId, store) };
  });
  const { status, owner } = run;
  const name = printableLine(runId);
  if (o.json === true) await terminal.json({ runId, cancelled: isCancelled, status });
  else if (!isCancelled)
    await terminal.message(`Run ${name} has ended (${status}): there is nothing to cancel`);
  else if (status === "running" && owner !== undefined)
    await terminal.text(`Run ${name}: ${printableLine(owner)} ends it within seconds`);
  else await terminal.text(`Run ${name} is cancelled`);
  return isCancelled ? ExitCode.OK : ExitCode.FAILED;
}

/** `agentensemble runs fork`: stores a new run from a part of a run. */
export async function runsForkCommand(
  runId: string,
  o: RunsArguments & { readonly from?: string | undefined; readonly runId?: string | undefined },
  terminal: OutputTerminal,
): Promise<number> {
  const store = new Store(o);
  const forked = await store.use(async (runs) => {
    await knownRun(runs, runId, store);
    return runs.fork(runId, {
      ...(o.from !== undefined && { from: o.from }),
      ...(o.runId !== undefined && { runId: o.runId }),
    });
  });
  if (o.json === true) await terminal.json({ runId: forked, forkedFrom: runId });
  else {
    await terminal.text(printableLine(forked));
    const resume = `agentensemble runs resume <file> ${shellWord(forked)}${store.option}`;
    await terminal.message(`To execute it: ${resume}`);
  }
  return ExitCode.OK;
}

/** `agentensemble runs settle`: settles a tool call in doubt. */
export async function runsSettleCommand(
  runId: string,
  key: string,
  o: RunsArguments & { readonly result?: string | undefined; readonly again?: boolean | undefined },
  terminal: OutputTerminal,
): Promise<number> {
  if ((o.result === undefined) === (o.again !== true))
    throw new ValidationError("runs settle takes either --result or --again", {
      hint: "--result is what the tool returned; --again lets it be called again.",
    });
  const result = o.result === undefined ? undefined : await textGiven("--result", o.result);
  const store = new Store(o);
  await store.use(async (runs) => {
    await knownRun(runs, runId, store);
    await runs.settle(runId, key, result === undefined ? "again" : { result });
  });
  if (o.json === true) await terminal.json({ runId, key, settled: result ?? null });
  else {
    const resume = `agentensemble runs resume <file> ${shellWord(runId)}${store.option}`;
    await terminal.text(`Settled. To resume the run: ${resume}`);
  }
  return ExitCode.OK;
}

/**
 * `agentensemble runs delete`: deletes runs by their ids, or all matching runs that no process
 * executes.
 */
export async function runsDeleteCommand(
  runIds: readonly string[],
  o: FilterArguments,
  terminal: OutputTerminal,
): Promise<number> {
  const filter = filterOf(o);
  const isFiltered = Object.keys(filter).length > 0;
  if (isFiltered === runIds.length > 0)
    throw new ValidationError("runs delete takes either ids of runs or a filter", {
      hint: "For instance: agentensemble runs delete --older-than 30d --status completed",
    });
  const store = new Store(o);
  const deleted = await store.use((runs) =>
    isFiltered ? runs.deleteAll(filter) : deleteEach(runs, runIds, store),
  );
  if (o.json === true) await terminal.json({ deleted });
  else await terminal.text(`Deleted ${counted(deleted, "run")}`);
  return ExitCode.OK;
}

async function deleteEach(
  runs: KeptRuns,
  runIds: readonly string[],
  store: Store,
): Promise<number> {
  // Nothing is deleted if one id is misspelt.
  for (const runId of runIds) await knownRun(runs, runId, store);
  for (const runId of runIds) await runs.delete(runId);
  return runIds.length;
}
