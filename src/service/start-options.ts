import type { StartOptions } from "../contracts/service.js";
import { ValidationError } from "../contracts/errors.js";
import { checkQueueLimits } from "../contracts/queue-options.js";
import { SHARED_NAME } from "../contracts/service-options.js";
import {
  checkOptions,
  preview,
  requireArray,
  requireBoolean,
  requireDuration,
  requireFunction,
  requireInteger,
  requireText,
} from "../contracts/validation.js";
import { checkWebhookOptions } from "../plugins/shared/webhooks/webhook-target.js";
import { asText, isObject } from "../util/objects.js";
import { checkHttpOptions } from "./http/http-options.js";

const OPTIONS = [
  ...[
    "backend",
    "port",
    "sharesPort",
    "host",
    "callers",
    "authenticate",
    "allowedHosts",
    "publicUrl",
  ],
  ...["card", "ingress", "webhooks"],
  ...["leaseMs", "maxAttempts", "resultTtlMs", "maxMessageBytes"],
  ...["signals", "instance", "listeners", "shareRun", "queue", "quota"],
];
const BACKEND_PARTS = ["queue", "results", "topics", "catalogue"];
const SHORTEST_LEASE_MS = 30;

/** Returns the checked options. A number is a port. @throws ValidationError for invalid options. */
export function checkedStartOptions(given: number | StartOptions): StartOptions {
  const o: StartOptions = typeof given === "number" ? { port: given } : given;
  checkOptions("start()", o, OPTIONS);
  checkBackend(o.backend);
  checkHttpOptions(o);
  requireInteger("start() leaseMs", o.leaseMs, SHORTEST_LEASE_MS);
  requireDuration("start() leaseMs", o.leaseMs);
  requireInteger("start() maxAttempts", o.maxAttempts, 1, "> 0");
  requireDuration("start() resultTtlMs", o.resultTtlMs);
  requireInteger("start() maxMessageBytes", o.maxMessageBytes, 1, "> 0");
  if (o.webhooks !== undefined) checkWebhookOptions("start() webhooks", o.webhooks);
  checkIngress(o);
  if (o.queue !== undefined) checkQueueLimits("start() queue", o.queue);
  requireBoolean("start() signals", o.signals);
  requireBoolean("start() sharesPort", o.sharesPort);
  requireBoolean("start() shareRun", o.shareRun);
  if (o.instance !== undefined)
    requireText(
      o.instance,
      `start() instance must be a text that is not blank, got: ${preview(o.instance)}`,
    );
  requireArray("start() listeners", o.listeners);
  o.listeners?.forEach((listener: unknown, i) =>
    requireFunction(`start() listeners[${i}]`, listener ?? null),
  );
  return o;
}

/** @throws ValidationError unless the ensemble can be a service. */
export function requireServiceName(name: string | undefined): void {
  if (name !== undefined && SHARED_NAME.test(name)) return;
  throw new ValidationError("An ensemble needs a name to be started as a service", {
    hint: 'Set it: new Ensemble({ name: "kitchen", ... }). Others send requests to this name.',
  });
}

function checkIngress({ ingress, port }: StartOptions): void {
  requireArray("start() ingress", ingress);
  const names = new Set<string>();
  for (const [i, each] of (ingress ?? []).entries()) {
    const what = `start() ingress[${i}]`;
    if (!isObject(each) || !SHARED_NAME.test(asText(each.name)))
      throw new ValidationError(`${what} must have a name, got: ${preview(each)}`, {
        hint: "Use webhook() of agentensemble/network, or an object of the type Ingress.",
      });
    const { name, routes, open } = each;
    requireFunction(`${what} routes`, routes);
    requireFunction(`${what} open`, open);
    if (routes === undefined && open === undefined)
      throw new ValidationError(`${what} must have routes() or open()`);
    if (routes !== undefined && port === undefined)
      throw new ValidationError(`${what} '${name}' has routes, and start() no port`, {
        hint: "port: 0 takes a free port.",
      });
    if (names.has(name)) throw new ValidationError(`${what} has the name of another: '${name}'`);
    names.add(name);
  }
}

function checkBackend(backend: unknown): void {
  if (backend === undefined) return;
  const missing = BACKEND_PARTS.find((part) => !isObject(backend) || !isObject(backend[part]));
  if (missing !== undefined)
    throw new ValidationError(`start() backend must have ${missing}, got: ${preview(backend)}`, {
      hint: "Use NetworkBackend.inMemory() or .file() of agentensemble/network, postgres() of agentensemble/network/postgres, bullmq() of agentensemble/network/redis, or nats() of agentensemble/network/nats.",
    });
}
