import type { QueueClock } from "./clock-timer.js";
import type { QueueRules } from "./queue-table.js";
import { checkOptions, requireDuration } from "../../../contracts/validation.js";
import { systemClock } from "../../../util/runtime.js";

/** Options of backends within one process. */
export interface LocalBackendOptions {
  /**
   * Milliseconds that one rank of priority is worth. A request with the next lower priority is
   * delivered first if it was accepted at least this much earlier. Default 60,000.
   */
  readonly agingMs?: number | undefined;
  /**
   * Time in milliseconds for which ids of completed requests are kept. Default 86,400,000 (one
   * day).
   */
  readonly idTtlMs?: number | undefined;
  /** A clock for tests. Default: the clock of the machine. */
  readonly clock?: QueueClock | undefined;
}

const AGING_MS = 60_000;
const ID_TTL_MS = 86_400_000;

/** @throws ValidationError for an unknown or invalid option. */
export function localSettings(
  what: string,
  options: LocalBackendOptions,
): { readonly clock: QueueClock; readonly rules: QueueRules } {
  checkOptions(what, options, ["agingMs", "idTtlMs", "clock"]);
  const { agingMs = AGING_MS, idTtlMs = ID_TTL_MS, clock = systemClock } = options;
  requireDuration(`${what} agingMs`, agingMs);
  requireDuration(`${what} idTtlMs`, idTtlMs);
  return { clock, rules: { agingMs, idTtlMs } };
}
