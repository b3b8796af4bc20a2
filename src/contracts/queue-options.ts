import type { WorkRequest } from "./network.js";
import { ValidationError } from "./errors.js";
import { checkOptions, knownNames, preview, requireInteger, requireOneOf } from "./validation.js";
import { isObject } from "../util/objects.js";

/**
 * Limits of the executed requests of an ensemble. Limits over all processes require a backend that
 * counts them. Otherwise each process counts separately.
 */
export interface QueueLimits {
  /**
   * Maximum number of concurrent requests in one process. Default: `maxConcurrentRequests` of the
   * ensemble.
   */
  readonly concurrency?: number | undefined;
  /** Maximum number of concurrent requests in all processes together. Default: no limit. */
  readonly globalConcurrency?: number | undefined;
  /**
   * Limit of starts: all processes together start at most `starts` requests within any `periodMs`
   * milliseconds. Default: no limit.
   */
  readonly rate?: { readonly starts: number; readonly periodMs: number } | undefined;
}

/** Options of the queue of an ensemble. */
export interface QueueOptions extends QueueLimits {
  /**
   * The priority of runs that `agentensemble submit` requests without a priority. Default NORMAL.
   */
  readonly priority?: WorkRequest["priority"];
}

/**
 * Limits per window for one caller over HTTP, or for one user or thread of a conversation. At least
 * one limit is required. Cached results are not counted.
 */
export interface CallerQuota {
  /**
   * Length of a window in milliseconds. Windows begin at multiples of this length since 1970 (UTC),
   * by the clock of each instance.
   */
  readonly windowMs: number;
  /** Maximum number of accepted requests, or of turns of a conversation. */
  readonly maxRequests?: number | undefined;
  /** Maximum number of tokens used by the runs of the requests or turns. */
  readonly maxTokens?: number | undefined;
  /** Maximum cost of these runs, in the currency of the prices of the ensemble or conversation. */
  readonly maxCost?: number | undefined;
}

/** The used amounts of a quota in the current window. */
export interface QuotaState {
  readonly quota: CallerQuota;
  readonly used: { readonly requests: number; readonly tokens: number; readonly cost: number };
  /** Time until the next window in milliseconds. */
  readonly resetsInMs: number;
}

const LIMITS = ["concurrency", "globalConcurrency", "rate"];
const PRIORITIES = ["CRITICAL", "HIGH", "NORMAL", "LOW"];
/** The key of the queue options for ensembles without an entry. */
const DEFAULT = "default";

/** @throws ValidationError for an unknown option or an invalid limit. */
export function checkQueueLimits(what: string, limits: unknown): void {
  checkQueueFields(what, limits, LIMITS);
}

/** @throws ValidationError for an unknown option, an invalid limit, or a quota without a limit. */
export function checkCallerQuota(what: string, quota: unknown): void {
  if (!isObject(quota))
    throw new ValidationError(`${what} must be an object, got: ${preview(quota)}`);
  checkOptions(what, quota, ["windowMs", "maxRequests", "maxTokens", "maxCost"]);
  // Checked below.
  const { windowMs, maxRequests, maxTokens, maxCost } = quota as Partial<CallerQuota>;
  if (windowMs === undefined)
    throw new ValidationError(`${what} must have windowMs, the length of its windows`, {
      hint: "For instance 86_400_000, a day.",
    });
  requireInteger(`${what} windowMs`, windowMs, 1, "> 0");
  requireInteger(`${what} maxRequests`, maxRequests, 1, "> 0");
  requireInteger(`${what} maxTokens`, maxTokens, 1, "> 0");
  if (maxCost !== undefined && !(typeof maxCost === "number" && maxCost > 0 && maxCost < Infinity))
    throw new ValidationError(`${what} maxCost must be a number > 0, got: ${preview(maxCost)}`);
  if ((maxRequests ?? maxTokens ?? maxCost) === undefined)
    throw new ValidationError(`${what} must have maxRequests, maxTokens or maxCost`);
}

/** @throws ValidationError for an unknown ensemble, an unknown option or an invalid value. */
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

/** Returns the options of the queue of an ensemble. */
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
