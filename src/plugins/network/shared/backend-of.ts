import type { SecretFilter } from "../../../contracts/redaction.js";
import type {
  Catalogue,
  FleetLimits,
  NetworkBackend,
  RequestQueue,
  ResultStore,
  Topics,
} from "../../../contracts/network.js";
import { ValidationError } from "../../../contracts/errors.js";
import {
  checkOptions,
  preview,
  requireFunction,
  requireText,
} from "../../../contracts/validation.js";
import { asFields } from "../../../util/objects.js";
import { systemClock } from "../../../util/runtime.js";
import { LocalCatalogue } from "./local-catalogue.js";
import { LocalTopics } from "./local-topics.js";

/** The parts of a backend. */
export interface BackendParts {
  /** The name of the storage engine. */
  readonly name: string;
  readonly queue: RequestQueue;
  readonly results: ResultStore;
  /**
   * The topics. Default: topics within this process. Other processes then receive a cancellation
   * only when they renew the lease, and no progress.
   */
  readonly topics?: Topics | undefined;
  /**
   * The catalogue. Default: a catalogue within this process. Searches by tags in other processes
   * then find nothing.
   */
  readonly catalogue?: Catalogue | undefined;
  /** Counts limits and budgets for all processes. Default: each process counts its own. */
  readonly limits?: FleetLimits | undefined;
  /** Removes the secrets of this backend from a text. */
  readonly redact?: SecretFilter | undefined;
}

/** The methods that each part must have. `close` is optional. */
const METHODS = Object.freeze({
  queue: [
    ...["enqueue", "dequeue", "extend", "acknowledge", "release", "deadLetter"],
    ...["deadLetters", "redrive", "status", "depth"],
  ],
  results: ["store", "retrieve", "forget", "subscribe"],
  topics: ["publish", "subscribe"],
  catalogue: ["announce", "withdraw", "entries"],
});

/**
 * Combines parts into a backend whose `close()` closes them all.
 *
 * @throws ValidationError for an unknown part, and for a part without a required method.
 */
export function backendOf(parts: BackendParts): NetworkBackend {
  checkOptions("NetworkBackend.of()", parts, ["name", "limits", "redact", ...Object.keys(METHODS)]);
  requireText(parts.name, `name of a backend must not be blank, got: ${preview(parts.name)}`);
  const topics = parts.topics ?? new LocalTopics();
  const catalogue = parts.catalogue ?? new LocalCatalogue(systemClock);
  const { name, queue, results, limits, redact } = parts;
  requireFunction("redact of a backend", redact);
  const whole = { queue, results, topics, catalogue };
  for (const [part, methods] of Object.entries(METHODS))
    requireMethods(part, whole[part as keyof typeof METHODS], methods); // the keys of METHODS
  if (limits !== undefined) {
    requireMethods("limits.rateWindow", limits.rateWindow, ["take"]);
    requireMethods("limits.budgetAccounts", limits.budgetAccounts, ["open"]);
  }
  const close = (): Promise<void> => closeAll(Object.values(whole));
  return Object.freeze({
    name,
    ...whole,
    ...(limits !== undefined && { limits }),
    ...(redact !== undefined && { redact }),
    close,
  });
}

function requireMethods(part: string, value: unknown, methods: readonly string[]): void {
  const missing = methods.find((method) => typeof asFields(value)?.[method] !== "function");
  if (missing !== undefined)
    throw new ValidationError(
      `${part} of a backend must have the method ${missing}(), got: ${preview(value)}`,
    );
}

interface Closeable {
  close?(): Promise<void>;
}

/** Closes each part. @throws the first error, after all were closed. */
async function closeAll(parts: readonly Closeable[]): Promise<void> {
  const ends = await Promise.allSettled(parts.map(async (part) => part.close?.()));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}
