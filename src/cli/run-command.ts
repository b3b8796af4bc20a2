import type { EnsembleOutput, ExitReason } from "../contracts/output.js";
import type { BindApi, Plugin } from "../contracts/plugin.js";
import type { RunOptions } from "../contracts/run.js";
import type { Inputs } from "../contracts/types.js";
import type { LoadedEnsemble } from "./load-ensemble.js";
import type { OutputTerminal } from "./terminal.js";
import { ValidationError } from "../contracts/errors.js";
import { preview } from "../contracts/validation.js";
import { Tokens } from "../contracts/tokens.js";
import { checkTraceFile, durationOf, inputsOf } from "./arguments.js";
import { ExitCode } from "./exit-codes.js";
import { interruptible } from "./interruption.js";
import { accessOf, endEnsemble, formedFor, loadEnsemble } from "./load-ensemble.js";
import { showProgress, showWarnings } from "./progress.js";
import { errorText } from "./report-error.js";
import { runJson } from "./run-result.js";

/** Options of `agentensemble run`. */
export interface RunArguments {
  readonly input?: readonly string[] | undefined;
  readonly inputs?: string | undefined;
  readonly capture?: string | undefined;
  readonly model?: string | undefined;
  readonly timeout?: string | undefined;
  readonly trace?: string | undefined;
  readonly record?: string | undefined;
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  readonly review?: string | undefined;
}

const EXIT_CODES: Readonly<Record<ExitReason, number>> = {
  COMPLETED: ExitCode.OK,
  USER_EXIT_EARLY: ExitCode.OK,
  TIMEOUT: ExitCode.TIMEOUT,
  CANCELLED: ExitCode.CANCELLED,
  SUSPENDED: ExitCode.SUSPENDED,
  ERROR: ExitCode.FAILED,
};

async function runOptionsOf(ensemble: LoadedEnsemble, o: RunArguments): Promise<RunOptions> {
  const model = o.model === undefined ? undefined : await accessOf(ensemble).model(o.model);
  return {
    throwOnError: false, // a failed run has results to show, too
    ...(o.capture !== undefined && { captureMode: o.capture }),
    ...(o.timeout !== undefined && { timeoutMs: durationOf(o.timeout) }),
    ...(model !== undefined && {
      bindings: (bind: BindApi) => void bind.single(Tokens.ChatModel).toConstantValue(model),
    }),
  };
}

/** What kept the trace from being written: no reason to lose the result. */
async function saveTrace({ trace }: EnsembleOutput, path: string | undefined): Promise<unknown> {
  try {
    if (path !== undefined) await trace.save(path);
    return undefined;
  } catch (error) {
    return error;
  }
}

async function finish(
  output: EnsembleOutput,
  terminal: OutputTerminal,
  o: RunArguments,
): Promise<number> {
  const unsaved = await saveTrace(output, o.trace);
  if (o.json === true) await terminal.json(runJson(output, o.trace, unsaved));
  else {
    if (output.error !== undefined) await terminal.message(errorText(output.error, terminal));
    if (unsaved !== undefined) await terminal.message(errorText(unsaved, terminal));
    else if (o.trace !== undefined) await terminal.message(`Trace: ${o.trace}`);
    if (output.raw !== "") await terminal.modelText(output.raw);
  }
  const code = EXIT_CODES[output.exitReason];
  return code === ExitCode.OK && unsaved !== undefined ? ExitCode.FAILED : code;
}

async function recordersOf({ record }: RunArguments): Promise<readonly Plugin[]> {
  return record === undefined ? [] : [(await import("../replay.js")).recordTo(record)];
}

/** Whether reviews are answered at the terminal; by default where somebody is there. @throws ValidationError */
function asksHere({ review }: RunArguments): boolean {
  if (review === undefined) return process.stdin.isTTY && process.stdout.isTTY;
  if (review === "console" || review === "none") return review === "console";
  throw new ValidationError(`--review must be console or none, got: ${preview(review)}`);
}

/** Lets somebody answer at the terminal. Returns whether that is so. */
async function addTerminal(ensemble: LoadedEnsemble, o: RunArguments): Promise<boolean> {
  if (!asksHere(o)) return false;
  const { terminalReviews } = await import("./terminal-reviews.js");
  try {
    addPlugin(ensemble, terminalReviews({ input: process.stdin, output: process.stderr }));
    return true;
  } catch (error) {
    if (o.review === undefined && ValidationError.isInstance(error)) return false; // it has begun already, and nobody asked for this
    throw error;
  }
}

/** @throws ValidationError for an ensemble that has it already, or that has begun. */
function addPlugin(ensemble: LoadedEnsemble, plugin: Plugin): void {
  try {
    accessOf(ensemble).use(plugin);
  } catch (cause) {
    if (!ValidationError.isInstance(cause) || cause.hint !== undefined) throw cause;
    throw new ValidationError(cause.message, {
      cause,
      hint: `An ensemble that brings '${plugin.name}' itself can be run as it is, or without it by this command.`,
    });
  }
}

async function runUntilInterrupted(
  ensemble: LoadedEnsemble,
  inputs: Inputs,
  terminal: OutputTerminal,
  o: RunArguments & { readonly isAsked: boolean },
): Promise<number> {
  const handle = ensemble.stream(inputs, await runOptionsOf(ensemble, o));
  const { paintMessage: paint } = terminal;
  const shown =
    o.json === true || o.quiet === true
      ? showWarnings(handle.events, process.stderr, paint)
      : showProgress(handle.events, process.stderr, paint, o.isAsked);
  const cancel = (signal: string): void => {
    void terminal.message(`${signal}: the run is being cancelled. Again to stop at once.`);
    handle.cancel(signal);
  };
  const output = await interruptible(
    Promise.all([handle.output, shown]).then(([result]) => result),
    cancel,
  );
  return finish(output, terminal, o);
}

/** `agentensemble run <file>`; with `plugins` also what other commands make of it. */
export async function runCommand(
  file: string,
  o: RunArguments,
  terminal: OutputTerminal,
  plugins: readonly Plugin[] = [],
): Promise<number> {
  if (o.timeout !== undefined) durationOf(o.timeout); // before anything is loaded
  asksHere(o);
  if (o.trace !== undefined) checkTraceFile(o.trace);
  const inputs = await inputsOf(o);
  terminal.keepOutputForResults();
  const ensemble = await loadEnsemble(file);
  try {
    for (const plugin of [...plugins, ...(await recordersOf(o))]) addPlugin(ensemble, plugin);
    const isAsked = await addTerminal(ensemble, o);
    const given = formedFor(ensemble, inputs, o);
    return await runUntilInterrupted(ensemble, given, terminal, { ...o, isAsked });
  } finally {
    await endEnsemble(ensemble);
  }
}
