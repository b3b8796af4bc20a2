import { PassThrough } from "node:stream";
import type { EnsembleEvent } from "../contracts/events.js";
import type { RunOptions } from "../contracts/run.js";
import type { LoadedEnsemble } from "./load-ensemble.js";
import type { BegunRun, ExecutionArguments } from "./run-command.js";
import type { OutputTerminal } from "./terminal.js";
import { RunCancelledError } from "../contracts/errors.js";
import { executeFile } from "./run-command.js";

/** Resumes a run with its original inputs. */
function resumed(ensemble: LoadedEnsemble, runId: string, options: RunOptions): BegunRun {
  const end = new AbortController();
  const events = new PassThrough({ objectMode: true });
  const see = (event: EnsembleEvent): void => void events.write(event);
  const { runId: _, listeners = [], ...others } = options;
  const output = ensemble
    .resume(runId, { ...others, signal: end.signal, listeners: [...listeners, { on: see }] })
    .finally(() => events.end());
  return {
    events,
    output,
    cancel: (reason) => end.abort(new RunCancelledError(`The run was cancelled: ${reason}`)),
  };
}

/** `agentensemble runs resume <file> <run-id>`: continues a stored run. */
export async function runsResumeCommand(
  file: string,
  runId: string,
  o: Omit<ExecutionArguments, "durable" | "runId">,
  terminal: OutputTerminal,
): Promise<number> {
  return executeFile(file, { ...o, durable: true, runId }, terminal, {
    mayKeepItself: true,
    begin: (ensemble, options) => resumed(ensemble, runId, options),
  });
}
