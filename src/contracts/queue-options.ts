import type { WorkRequest } from "./network.js";
import { ValidationError } from "./errors.js";
import { checkOptions, knownNames, preview, requireInteger, requireOneOf } from "./validation.js";
import { isObject } from "../util/objects.js";

/** How many requests of an ensemble are executed. Limits of all processes need a backend that counts them, else each process has its own. */
export interface QueueLimits {
  /** Requests at once in one process. Default: `maxConcurrentRequests` of the ensemble. */
  readonly concurrency?: number | undefined;
  /** Requests at once in all processes together. Default: no limit. */
  readonly globalConcurrency?: number | undefined;
  /** Requests that all processes together begin in any `periodMs` milliseconds. Default: no limit. */
  readonly rate?: { readonly starts: number; readonly periodMs: number } | undefined;
}

/** How the requests of an ensemble are queued and executed. */
export interface QueueOptions extends QueueLimits {
  /** The priority of runs that `agentensemble submit` requests without one. Default NORMAL. */
  readonly priority?: WorkRequest["priority"];
}

const LIMITS = ["concurrency", "globalConcurrency", "rate"];
const PRIORITIES = ["CRITICAL", "HIGH", "NORMAL", "LOW"];
/** The queue of ensembles without an entry. */
const DEFAULT = "default";

/** @throws ValidationError for an unknown or invalid limit. */
export function checkQueueLimits(what: string, limits: unknown): void {
  checkQueueFields(what, limits, LIMITS);
}

/** @throws ValidationError for an unknown ensemble, and for an unknown or invalid option. */
export function checkQueues(
  what: string,
  queues: Readonly<Record<string, QueueOptions>>,
  ensembles: readonly string[],
): void {
  for (const [name, options] of Object.entries(queues)) {
    if (name !== DEFAULT && !ensembles.includes(name))
      throw new ValidationError(
        `${what} has no ensemble '${name}'. ${knownNames(name, [...ensembles, DEFAULT])}`,
      );
    checkQueueFields(`${what}.${name}`, options, [...LIMITS, "priority"]);
    requireOneOf(`${what}.${name} priority`, options.priority, PRIORITIES);
  }
}

/** The options of the queue of an ensemble. */
export function queueOptionsOf(
  queues: Readonly<Record<string, QueueOptions>> | undefined,
  ensemble: string,
): QueueOptions {
  if (queues === undefined) return {};
  return (Object.hasOwn(queues, ensemble) ? queues[ensemble] : queues[DEFAULT]) ?? {};
}

function checkQueueFields(what: string, limits: unknown, known: readonly string[]): void {
  if (!isObject(limits))
    throw new ValidationError(`${what} must be an object, got: ${preview(limits)}`);
  checkOptions(what, limits, known);
  const { concurrency, globalConcurrency, rate } = limits as QueueLimits; // checked below
  requireInteger(`${what} concurrency`, concurrency, 1, "> 0");
  requireInteger(`${what} globalConcurrency`, globalConcurrency, 1, "> 0");
  if (rate === undefined) return;
  checkOptions(`${what} rate`, rate, ["starts", "periodMs"]);
  requireInteger(`${what} rate starts`, rate.starts ?? null, 1, "> 0");
  requireInteger(`${what} rate periodMs`, rate.periodMs ?? null, 1, "> 0");
}
