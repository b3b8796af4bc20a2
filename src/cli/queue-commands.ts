import type { OutputTerminal } from "./terminal.js";
import { asFields, asList, asText } from "../util/objects.js";
import { printableLine } from "../util/printable.js";
import { ExitCode } from "./exit-codes.js";
import { ServiceClient } from "./service-client.js";

/** What all commands of queues take. */
export interface QueueArguments {
  readonly json?: boolean | undefined;
}

/** `agentensemble queue ls`: what waits, runs and is dead. */
export async function queueListCommand(
  url: string,
  { json }: QueueArguments,
  terminal: OutputTerminal,
): Promise<number> {
  const client = new ServiceClient(url);
  const depth = client.require(await client.ask("/api/queue/depth"));
  if (json === true) await terminal.json(depth);
  else {
    const count = (name: string): string => `${Number(depth[name] ?? 0)} ${name}`;
    const counts = [count("queued"), count("leased"), count("dead")].join(", ");
    const oldest = Number(depth["oldestWaitMs"] ?? 0);
    const wait = oldest > 0 ? `; the oldest waits for ${Math.round(oldest / 1_000)} s` : "";
    await terminal.text(`${printableLine(asText(depth["ensemble"]))}: ${counts}${wait}`);
  }
  return ExitCode.OK;
}

/** `agentensemble queue dead`: the dead letters with their reasons. */
export async function queueDeadCommand(
  url: string,
  { json }: QueueArguments,
  terminal: OutputTerminal,
): Promise<number> {
  const client = new ServiceClient(url);
  const body = client.require(await client.ask("/api/queue/dead"));
  const letters = asList(body["deadLetters"]);
  if (json === true) await terminal.json(body);
  else if (letters.length === 0) await terminal.message("There are no dead letters");
  else await terminal.text(letters.map(letterLine).join("\n"));
  return ExitCode.OK;
}

function letterLine(letter: unknown): string {
  const request = asFields(asFields(letter)?.["request"]);
  const [id, task] = [asText(request?.["requestId"]), asText(request?.["task"])];
  const reason = asText(asFields(letter)?.["reason"]);
  return `${printableLine(id)}  ${printableLine(task)}  ${printableLine(reason, 200)}`;
}

/** `agentensemble queue redrive`: queues a dead letter again. */
export async function queueRedriveCommand(
  url: string,
  requestId: string,
  { json }: QueueArguments,
  terminal: OutputTerminal,
): Promise<number> {
  const client = new ServiceClient(url);
  const path = `/api/queue/redrive/${encodeURIComponent(requestId)}`;
  const body = client.require(await client.ask(path, { body: {} }));
  if (json === true) await terminal.json(body);
  else await terminal.text(`Request ${printableLine(requestId)} is queued again`);
  return ExitCode.OK;
}
