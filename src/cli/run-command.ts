import type { EnsembleOutput, ExitReason } from "../contracts/output.js";
import type { BindApi, Plugin } from "../contracts/plugin.js";
import type { RunHandle, RunOptions } from "../contracts/run.js";
import type { Dashboard } from "../dashboard.js";
import type { KeepArguments } from "./keep-arguments.js";
import type { DashboardArguments } from "./run-dashboard.js";
import type { KeptExecution } from "./kept-execution.js";
import type { LoadedEnsemble } from "./load-ensemble.js";
import type { OutputTerminal } from "./terminal.js";
import { ValidationError } from "../contracts/errors.js";
import { preview } from "../contracts/validation.js";
import { Tokens } from "../contracts/tokens.js";
import { checkTraceFile, durationOf, inputsOf, tagsOf } from "./arguments.js";
import { ExitCode, exitCodeOf } from "./exit-codes.js";
import { interruptible } from "./interruption.js";
import { checkKeepArguments } from "./keep-arguments.js";
import { accessOf, endEnsemble, formedFor, loadEnsemble } from "./load-ensemble.js";
import { showProgress, showWarnings } from "./progress.js";
import { errorText } from "./report-error.js";
import { checkDashboardArguments, dashboardOf, untilLeft } from "./run-dashboard.js";
import { runJson } from "./run-result.js";

/** Options of `agentensemble run`. */
export interface RunArguments extends ExecutionArguments {
  readonly input?: readonly string[] | undefined;
  readonly inputs?: string | undefined;
}

/** Options of all commands that execute a run. */
export interface ExecutionArguments extends KeepArguments, DashboardArguments {
  readonly capture?: string | undefined;
  readonly model?: string | undefined;
  readonly timeout?: string | undefined;
  readonly trace?: string | undefined;
  readonly record?: string | undefined;
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  readonly review?: string | undefined;
  readonly tag?: readonly string[] | undefined;
}

/** A run that has begun. */
export type BegunRun = Pick<RunHandle, "events" | "output" | "cancel">;

/** The execution of the ensemble of a file by a command. */
export interface Execution {
  /** The plugins that the command adds to the ensemble. */
  readonly plugins?: readonly Plugin[];
  /** Whether an ensemble that already stores its runs is accepted. */
  readonly mayKeepItself?: boolean;
  begin(ensemble: LoadedEnsemble, options: RunOptions): BegunRun;
}

const EXIT_CODES: Readonly<Record<ExitReason, number>> = {
  COMPLETED: ExitCode.OK,
  USER_EXIT_EARLY: ExitCode.OK,
  TIMEOUT: ExitCode.TIMEOUT,
  CANCELLED: ExitCode.CANCELLED,
  SUSPENDED: ExitCode.SUSPENDED,
  ERROR: ExitCode.FAILED,
};

async function runOptionsOf(ensemble: LoadedEnsemble, o: ExecutionArguments): Promise<RunOptions> {
  const model = o.model === undefined ? undefined : await accessOf(ensemble).model(o.model);
  return {
    throwOnError: false, // a failed run also has results
    ...(o.runId !== undefined && { runId: o.runId }),
    ...(o.tag !== undefined && { tags: tagsOf(o.tag) }),
    ...(o.capture !== undefined && { captureMode: o.capture }),
    ...(o.timeout !== undefined && { timeoutMs: durationOf("--timeout", o.timeout) }),
    ...(model !== undefined && {
      bindings: (bind: BindApi) => void bind.single(Tokens.ChatModel).toConstantValue(model),
    }),
  };
}

/** Writes the trace. Returns the error of a failure, because the result must still be shown. */
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
  o: ExecutionArguments,
  kept: KeptExecution | undefined,
): Promise<number> {
  const { error, exitReason } = output;
  const unsaved = await saveTrace(output, o.trace);
  if (o.json === true)
    await terminal.json({ ...runJson(output, o.trace, unsaved), ...(await kept?.json(output)) });
  else {
    // `conclude` prints the questions.
    const isWaiting = kept !== undefined && exitReason === "SUSPENDED";
    if (error !== undefined && !isWaiting) await terminal.message(errorText(error, terminal));
    if (unsaved !== undefined) await terminal.message(errorText(unsaved, terminal));
    else if (o.trace !== undefined) await terminal.message(`Trace: ${o.trace}`);
    if (output.raw !== "") await terminal.modelText(output.raw);
    await kept?.conclude(output);
  }
  const isRefused = error !== undefined && kept?.isBegun === false; // no costs were caused
  const code = isRefused ? exitCodeOf(error) : EXIT_CODES[exitReason];
  return code === ExitCode.OK && unsaved !== undefined ? ExitCode.FAILED : code;
}

async function recordersOf({ record }: ExecutionArguments): Promise<readonly Plugin[]> {
  return record === undefined ? [] : [(await import("../replay.js")).recordTo(record)];
}

/**
 * Returns whether reviews are answered at the terminal. Default: true if standard input and output
 * are terminals.
 * @throws ValidationError
 */
function asksHere({ review }: ExecutionArguments): boolean {
  if (review === undefined) return process.stdin.isTTY && process.stdout.isTTY;
  if (review === "console" || review === "none") return review === "console";
  throw new ValidationError(`--review must be console or none, got: ${preview(review)}`);
}

/** Enables answers at the terminal. Returns whether they are enabled. */
async function addTerminal(ensemble: LoadedEnsemble, o: ExecutionArguments): Promise<boolean> {
  if (!asksHere(o)) return false;
  const { terminalReviews } = await import("./terminal-reviews.js");
  try {
    addPlugin(ensemble, terminalReviews({ input: process.stdin, output: process.stderr }));
    return true;
  } catch (error) {
    // The ensemble was already used, and the option was not given.
    if (o.review === undefined && ValidationError.isInstance(error)) return false;
    throw error;
  }
}

/**
 * @throws ValidationError for an ensemble that already has the plugin, or whose kernel has booted.
 */
function addPlugin(ensemble: LoadedEnsemble, plugin: Plugin): void {
  try {
    accessOf(ensemble).use(plugin);
  } catch (cause) {
    if (!ValidationError.isInstance(cause) || cause.hint !== undefined) throw cause;
    throw new ValidationError(cause.message, {
      cause,
      hint: `If the ensemble already has the plugin '${plugin.name}', omit the option or remove the plugin.`,
    });
  }
}

/** Shows later runs of the ensemble on a dashboard, and prints the link. */
async function attachDashboard(
  ensemble: LoadedEnsemble,
  board: Dashboard,
  terminal: OutputTerminal,
): Promise<void> {
  addPlugin(ensemble, board);
  await terminal.message(`Dashboard: ${await board.listen()}`);
}

/**
 * Adds the plugins that store the run. Returns the execution, or `undefined` if the run is not
 * stored.
 */
async function addKeeping(
  ensemble: LoadedEnsemble,
  file: string,
  o: ExecutionArguments & { readonly isAsked: boolean; readonly mayKeepItself: boolean },
  terminal: OutputTerminal,
): Promise<KeptExecution | undefined> {
  if (o.durable !== true) return undefined;
  const { KeptExecution: Kept } = await import("./kept-execution.js");
  const kept = await Kept.of(file, o, terminal, o.wait === true || o.isAsked);
  try {
    for (const plugin of kept.plugins) addPlugin(ensemble, plugin);
    return kept;
  } catch (error) {
    const isPlain = [o.store, o.wait, o.onChange].every((option) => option === undefined);
    if (o.mayKeepItself && isPlain && ValidationError.isInstance(error)) return undefined;
    throw error;
  }
}

async function runUntilInterrupted(
  begun: BegunRun,
  terminal: OutputTerminal,
  o: ExecutionArguments & { readonly isAsked: boolean },
): Promise<EnsembleOutput> {
  const { paintMessage: paint } = terminal;
  const shown =
    o.json === true || o.quiet === true
      ? showWarnings(begun.events, process.stderr, paint)
      : showProgress(begun.events, process.stderr, paint, o.isAsked);
  const cancel = (signal: string): void => {
    void terminal.message(`${signal}: the run is being cancelled. Again to stop at once.`);
    begun.cancel(signal);
  };
  const [output] = await interruptible(Promise.all([begun.output, shown]), cancel);
  return output;
}

/** Executes the ensemble of a file, and shows the result. */
export async function executeFile(
  file: string,
  o: ExecutionArguments,
  terminal: OutputTerminal,
  { plugins = [], mayKeepItself = false, begin }: Execution,
): Promise<number> {
  if (o.timeout !== undefined) durationOf("--timeout", o.timeout); // before any file is loaded
  asksHere(o);
  checkKeepArguments(o);
  checkDashboardArguments(o);
  if (o.trace !== undefined) checkTraceFile(o.trace);
  terminal.keepOutputForResults();
  const ensemble = await loadEnsemble(file);
  const board = await dashboardOf(o);
  try {
    if (board !== undefined) await attachDashboard(ensemble, board, terminal);
    for (const plugin of [...plugins, ...(await recordersOf(o))]) addPlugin(ensemble, plugin);
    const isAsked = await addTerminal(ensemble, o);
    const mayWait = isAsked || board !== undefined; // people answer while the run is in progress
    const keeping = { ...o, isAsked: mayWait, mayKeepItself };
    const kept = await addKeeping(ensemble, file, keeping, terminal);
    const options = await runOptionsOf(ensemble, o);
    const begun = begin(ensemble, { ...options, ...kept?.options() });
    const output = await runUntilInterrupted(begun, terminal, { ...o, isAsked });
    const code = await finish(output, terminal, o, kept);
    if (board !== undefined && o.stay === true) await untilLeft(board, terminal);
    return code;
  } finally {
    await board?.close();
    await endEnsemble(ensemble);
  }
}

/** `agentensemble run <file>`. Other commands pass `plugins`. */
export async function runCommand(
  file: string,
  o: RunArguments,
  terminal: OutputTerminal,
  plugins: readonly Plugin[] = [],
): Promise<number> {
  const inputs = await inputsOf(o);
  return executeFile(file, o, terminal, {
    plugins,
    begin: (ensemble, options) => ensemble.stream(formedFor(ensemble, inputs, o), options),
  });
}
