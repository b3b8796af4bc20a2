import type { OutputTerminal } from "./terminal.js";
import { ValidationError } from "../contracts/errors.js";
import { asFields, asList, asText, type Fields } from "../util/objects.js";
import { printableLine } from "../util/printable.js";
import { ExitCode } from "./exit-codes.js";
import { ServiceClient } from "./service-client.js";
import { addressGiven } from "./store.js";
import { StoreQueue } from "./store-queue.js";

/** Options of all commands of queues. */
export interface QueueArguments {
  /** The storage of the requests. The first argument is then the name of the ensemble. */
  readonly store?: string | undefined;
  readonly json?: boolean | undefined;
}

/** `agentensemble queue ls`: lists the waiting, running and dead requests. */
export async function queueListCommand(
  place: string,
  { json, store }: QueueArguments,
  terminal: OutputTerminal,
): Promise<number> {
  const depth = store === undefined ? await servedDepth(place) : await storedDepth(store, place);
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

async function servedDepth(url: string): Promise<Fields> {
  const client = new ServiceClient(url);
  return client.require(await client.ask("/api/queue/depth"));
}

async function storedDepth(store: string, ensemble: string): Promise<Fields> {
  return { ensemble, ...(await new StoreQueue(store, ensemble).depth()) };
}

/** `agentensemble queue dead`: lists the dead letters with their reasons. */
export async function queueDeadCommand(
  place: string,
  { json, store }: QueueArguments,
  terminal: OutputTerminal,
): Promise<number> {
  const body = store === undefined ? await servedDead(place) : await storedDead(store, place);
  const letters = asList(body["deadLetters"]);
  if (json === true) await terminal.json(body);
  else if (letters.length === 0) await terminal.message("There are no dead letters");
  else await terminal.text(letters.map(letterLine).join("\n"));
  return ExitCode.OK;
}

async function servedDead(url: string): Promise<Fields> {
  const client = new ServiceClient(url);
  return client.require(await client.ask("/api/queue/dead"));
}

async function storedDead(store: string, ensemble: string): Promise<Fields> {
  return { deadLetters: await new StoreQueue(store, ensemble).deadLetters() };
}

function letterLine(letter: unknown): string {
  const request = asFields(asFields(letter)?.["request"]);
  const [id, task] = [asText(request?.["requestId"]), asText(request?.["task"])];
  const reason = asText(asFields(letter)?.["reason"]);
  return `${printableLine(id)}  ${printableLine(task)}  ${printableLine(reason, 200)}`;
}

/** `agentensemble queue redrive`: queues a dead letter again. */
export async function queueRedriveCommand(
  place: string,
  requestId: string,
  { json, store }: QueueArguments,
  terminal: OutputTerminal,
): Promise<number> {
  if (store !== undefined) await new StoreQueue(store, place).redrive(requestId);
  const body = store === undefined ? await servedRedrive(place, requestId) : { requestId };
  if (json === true) await terminal.json(body);
  else await terminal.text(`Request ${printableLine(requestId)} is queued again`);
  return ExitCode.OK;
}

async function servedRedrive(url: string, requestId: string): Promise<Fields> {
  const client = new ServiceClient(url);
  const path = `/api/queue/redrive/${encodeURIComponent(requestId)}`;
  return client.require(await client.ask(path, { body: {} }));
}

/** `agentensemble queue cancel`: ends a waiting or running request. */
export async function queueCancelCommand(
  ensemble: string,
  requestId: string,
  { json, store, reason }: QueueArguments & { readonly reason?: string | undefined },
  terminal: OutputTerminal,
): Promise<number> {
  const address = addressGiven({ store });
  if (address === undefined)
    throw new ValidationError("queue cancel needs --store, or the variable AGENTENSEMBLE_STORE");
  await new StoreQueue(address, ensemble).cancel(requestId, reason ?? "Cancelled by an operator");
  if (json === true) await terminal.json({ requestId, ensemble, status: "CANCELLED" });
  else await terminal.text(`Request ${printableLine(requestId)} is cancelled`);
  return ExitCode.OK;
}
