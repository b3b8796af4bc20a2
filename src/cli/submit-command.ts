import type { WorkRequest } from "../contracts/network.js";
import type { OutputTerminal } from "./terminal.js";
import type { StoreArguments } from "./store.js";
import { RunTimeoutError, ValidationError } from "../contracts/errors.js";
import { WORK_VERSION } from "../contracts/network.js";
import { queueOptionsOf } from "../contracts/queue-options.js";
import { requireOneOf } from "../contracts/validation.js";
import { uuidGenerator } from "../util/runtime.js";
import { durationOf, inputsOf } from "./arguments.js";
import { showResponse } from "./call-command.js";
import { ExitCode } from "./exit-codes.js";
import { endEnsemble, formedFor } from "./load-ensemble.js";
import { ensembleNamed, loadProgram } from "./load-program.js";
import { submittedProgress } from "./submitted-progress.js";
import { sharedStore } from "./worker-command.js";

/** Options of `agentensemble submit`. */
export interface SubmitArguments extends StoreArguments {
  readonly input?: readonly string[] | undefined;
  readonly inputs?: string | undefined;
  readonly runId?: string | undefined;
  readonly priority?: string | undefined;
  readonly deadline?: string | undefined;
  readonly wait?: boolean | undefined;
  readonly timeout?: string | undefined;
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
}

const PRIORITIES = ["CRITICAL", "HIGH", "NORMAL", "LOW"] as const;
type Priority = (typeof PRIORITIES)[number];

/** Longer than any wait for a result. */
const LONGEST_MS = 2_000_000_000;

/**
 * `agentensemble submit`: requests a run of an ensemble of a file from a worker. The id of the run
 * equals the id of the request.
 */
export async function submitCommand(
  file: string,
  name: string | undefined,
  o: SubmitArguments,
  terminal: OutputTerminal,
): Promise<number> {
  if (o.timeout !== undefined && o.wait !== true)
    throw new ValidationError("--timeout limits the wait for the result: it needs --wait");
  const store = sharedStore(o);
  const timeoutMs = o.timeout === undefined ? LONGEST_MS : durationOf("--timeout", o.timeout);
  const request = await requestOfFile(file, name, o);
  const { Transport: transports } = await import("../network.js");
  const backend = await store.open();
  try {
    const transport = transports.of(request.to, backend);
    const { status } = await transport.send(request);
    if (o.wait !== true) return await showAccepted(request, status, o, terminal);
    const { requestId } = request;
    // Whoever stops waiting needs the id.
    if (o.quiet !== true) await terminal.message(`Run ${requestId} submitted to ${request.to}`);
    const onProgress = o.quiet === true ? undefined : submittedProgress(requestId, terminal);
    const response = await transport.response(requestId, { timeoutMs, onProgress });
    if (response !== undefined) return await showResponse({ ...response }, o, terminal);
    const { message } = new RunTimeoutError(timeoutMs);
    if (o.json === true) await terminal.json({ error: { code: "AE_RUN_TIMEOUT", message } });
    else await terminal.message(`error: no result within ${timeoutMs} ms; the run continues`);
    return ExitCode.TIMEOUT;
  } finally {
    await backend.close();
  }
}

async function requestOfFile(
  file: string,
  name: string | undefined,
  o: SubmitArguments,
): Promise<WorkRequest> {
  const wanted = o.priority?.toUpperCase();
  requireOneOf("--priority", wanted, PRIORITIES);
  const given = await inputsOf(o);
  const { ensembles, queues } = await loadProgram(file);
  try {
    const ensemble = ensembleNamed(ensembles, name);
    const inputs = formedFor(ensemble, given, o);
    const to = ensemble.name ?? "";
    // Checked above.
    const priority = (wanted as Priority | undefined) ?? queueOptionsOf(queues, to).priority;
    return {
      v: WORK_VERSION,
      requestId: o.runId ?? uuidGenerator.next(),
      from: "agentensemble-submit",
      to,
      type: "RUN",
      task: "run",
      inputs,
      ...(priority !== undefined && { priority }),
      ...(o.deadline !== undefined && { deadlineMs: durationOf("--deadline", o.deadline) }),
    };
  } finally {
    await Promise.allSettled(ensembles.map((one) => endEnsemble(one)));
  }
}

async function showAccepted(
  { requestId: runId, to: ensemble }: WorkRequest,
  status: string,
  { json }: SubmitArguments,
  terminal: OutputTerminal,
): Promise<number> {
  if (json === true) await terminal.json({ runId, ensemble, status });
  else await terminal.text(runId);
  return ExitCode.OK;
}
