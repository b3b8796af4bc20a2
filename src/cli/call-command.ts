import type { OutputTerminal } from "./terminal.js";
import { RunTimeoutError } from "../contracts/errors.js";
import { asFields, asText, type Fields } from "../util/objects.js";
import { uuidGenerator } from "../util/runtime.js";
import { durationOf, inputsOf, textGiven } from "./arguments.js";
import { ExitCode } from "./exit-codes.js";
import { ServiceClient } from "./service-client.js";

/** Options of `agentensemble call`. */
export interface CallArguments {
  readonly input?: readonly string[] | undefined;
  readonly inputs?: string | undefined;
  readonly context?: string | undefined;
  readonly priority?: string | undefined;
  readonly key?: string | undefined;
  readonly timeout?: string | undefined;
  readonly json?: boolean | undefined;
}

const INPUTS_HINT = "  hint: Give inputs with --input name=value, or --inputs file.json.";
/** Time in ms for which one request waits for a result. */
const WAIT_MS = 30_000;

/** `agentensemble call`: requests a shared task, and waits for its result. */
export async function callCommand(
  url: string,
  task: string,
  o: CallArguments,
  terminal: OutputTerminal,
): Promise<number> {
  const client = new ServiceClient(url);
  const timeoutMs = o.timeout === undefined ? undefined : durationOf("--timeout", o.timeout);
  const body = await callBody(task, o);
  const late = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  try {
    return await showResponse(
      await awaitedResult(client, { body, key: o.key, signal: late }),
      o,
      terminal,
    );
  } catch (error) {
    if (late?.aborted !== true || timeoutMs === undefined) throw error;
    const { message } = new RunTimeoutError(timeoutMs);
    if (o.json === true) await terminal.json({ error: { code: "AE_RUN_TIMEOUT", message } });
    else await terminal.message(`error: no result within ${timeoutMs} ms; it is kept there`);
    return ExitCode.TIMEOUT;
  }
}

async function callBody(task: string, o: CallArguments): Promise<Fields> {
  const inputs = await inputsOf(o);
  const { context, priority } = o;
  return {
    task,
    ...(Object.keys(inputs).length > 0 && { inputs }),
    ...(context !== undefined && { context: await textGiven("--context", context) }),
    ...(priority !== undefined && { priority: priority.toUpperCase() }),
  };
}

/** @throws as `ServiceClient.ask` and `ServiceClient.require`. */
async function awaitedResult(
  client: ServiceClient,
  o: {
    readonly body: Fields;
    readonly key: string | undefined;
    readonly signal: AbortSignal | undefined;
  },
): Promise<Fields> {
  const { body, signal } = o;
  const headers = { "idempotency-key": o.key ?? uuidGenerator.next() };
  const accepted = client.require(await client.ask("/api/work", { body, headers, signal }));
  const path = `/api/work/${encodeURIComponent(asText(accepted["requestId"]))}?waitMs=${WAIT_MS}`;
  for (;;) {
    const answer = await client.ask(path, { signal });
    const result = client.require(answer);
    if (answer.status === 200) return result;
  }
}

/** Prints a response. Returns the exit code. */
export async function showResponse(
  response: Fields,
  { json }: Pick<CallArguments, "json">,
  terminal: OutputTerminal,
): Promise<number> {
  const isDone = response["status"] === "COMPLETED";
  if (json === true) await terminal.json(response);
  else if (isDone) await terminal.modelText(asText(response["result"]));
  else {
    const reason = asText(response["reason"]);
    await terminal.message(`error ${reason}: ${asText(response["error"])}`);
    if (reason === "INVALID_INPUT") await terminal.message(INPUTS_HINT);
  }
  if (json !== true && asFields(response)?.["truncated"] === true)
    await terminal.message("The result was cut: it is larger than the service keeps");
  return isDone ? ExitCode.OK : ExitCode.FAILED;
}
