import type { Journal } from "../../../contracts/journal.js";
import type { JournalKeys } from "../shared/journal-keys.js";
import type { DurableSettings } from "./durable-settings.js";
import { ValidationError } from "../../../contracts/errors.js";
import {
  checkOptions,
  preview,
  requireBoolean,
  requireInteger,
  requireOneOf,
  requireText,
} from "../../../contracts/validation.js";

/** Options of `durable()`. */
export interface DurableOptions {
  /**
   * Where runs are kept: `file:<folder>`, `pglite:<folder>` (one process at a time), or `postgres://user:password@host:5432/database`.
   * Default `file:./.agentensemble/runs`.
   */
  readonly url?: string | undefined;
  /** A journal instead of a `url`. Who made it closes it. */
  readonly journal?: Journal | undefined;
  /** `calls`: each finished call is kept. `tasks`: finished tasks only, which is cheaper; a task that was interrupted begins again. Default `calls`. */
  readonly keep?: "calls" | "tasks" | undefined;
  /**
   * What to do where the program differs from an entry of the journal. `fail` ends the run with JournalMismatchError, `keep` uses the entry, `redo` does the
   * task again. Default `fail`.
   */
  readonly onChange?: "fail" | "keep" | "redo" | undefined;
  /** What to do about a tool call with an effect whose end is unknown, where the tool does not say it with `resume`. Default `ask`. */
  readonly inDoubt?: "ask" | "fail" | "again" | undefined;
  /** How long a process that shows no life keeps its runs, in milliseconds. Default 10,000. */
  readonly leaseMs?: number | undefined;
  /** Suspends a run when for so many milliseconds nothing but people is waited for. 0: at once. Default: never. */
  readonly suspendAfterMs?: number | undefined;
  /** The largest entry, in bytes. Default 8,388,608. */
  readonly maxEntryBytes?: number | undefined;
  /** Resumes the runs of each ensemble whose process has died, when the ensemble is made. Default false. */
  readonly resumeOnStart?: boolean | undefined;
  /**
   * Seals entries with AES-256-GCM: 32 bytes in base64; with `previous` keys that still open. Default: the codec of `Tokens.JournalCodec`; without one,
   * secrets are taken out of entries.
   */
  readonly encryptionKey?: JournalKeys | undefined;
}

const OPTIONS = [
  "url",
  "journal",
  "keep",
  "onChange",
  "inDoubt",
  "leaseMs",
  "suspendAfterMs",
  "maxEntryBytes",
  "resumeOnStart",
  "encryptionKey",
];
const SHORTEST_LEASE_MS = 100;

/** The defaults of the options. */
const DEFAULTS: Omit<DurableSettings, "suspendAfterMs" | "sealed"> = Object.freeze({
  keep: "calls",
  onChange: "fail",
  inDoubt: "ask",
  leaseMs: 10_000,
  maxEntryBytes: 8_388_608,
  resumeOnStart: false,
});

/** @throws ValidationError for an unknown option or a value out of range. */
export function resolveDurableOptions(o: DurableOptions): DurableSettings {
  checkOptions("durable", o, OPTIONS);
  checkPlace(o);
  requireOneOf("durable keep", o.keep, ["calls", "tasks"]);
  requireOneOf("durable onChange", o.onChange, ["fail", "keep", "redo"]);
  requireOneOf("durable inDoubt", o.inDoubt, ["ask", "fail", "again"]);
  requireInteger("durable leaseMs", o.leaseMs, SHORTEST_LEASE_MS);
  requireInteger("durable suspendAfterMs", o.suspendAfterMs, 0, "0 or more milliseconds");
  requireInteger("durable maxEntryBytes", o.maxEntryBytes, 1);
  requireBoolean("durable resumeOnStart", o.resumeOnStart);
  const { url: _, journal: __, encryptionKey, ...given } = o;
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.freeze({
    ...DEFAULTS,
    suspendAfterMs: undefined,
    sealed: encryptionKey !== undefined,
    ...(Object.fromEntries(set) as Partial<DurableSettings>), // checked above
  });
}

function checkPlace({ url, journal }: DurableOptions): void {
  if (url !== undefined) requireText(url, "durable url must not be blank");
  if (url !== undefined && journal !== undefined)
    throw new ValidationError("durable takes a url or a journal, not both");
  if (journal !== undefined && typeof (journal as Partial<Journal> | null)?.claim !== "function")
    throw new ValidationError(`durable journal must be a Journal, got: ${preview(journal)}`);
}
