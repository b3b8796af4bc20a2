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
   * The URL of the journal: `file:<folder>`, `pglite:<folder>` (for one process at a time), or
   * `postgres://user:password@host:5432/database`. Default `file:./.agentensemble/runs`.
   */
  readonly url?: string | undefined;
  /** A journal in place of a `url`. The program that created it must close it. */
  readonly journal?: Journal | undefined;
  /**
   * The calls that the journal keeps in addition to finished tasks. `calls` (default): each
   * finished model call and tool call. `tasks`: the calls of tasks that delegated or were retried,
   * and calls of tools with effects. This costs less, but an interrupted task starts again.
   */
  readonly keep?: "calls" | "tasks" | undefined;
  /**
   * The reaction if an entry of the journal does not match the program. `fail` (default) ends the
   * run with JournalMismatchError. `keep` uses the entry. `redo` executes the task again.
   */
  readonly onChange?: "fail" | "keep" | "redo" | undefined;
  /**
   * The reaction to a tool call with an effect and an unknown result. Applies to tools without
   * `resume`. `ask` (default) asks a person, `fail` ends the run, and `again` calls the tool again.
   */
  readonly inDoubt?: "ask" | "fail" | "again" | undefined;
  /**
   * Time in milliseconds after which other processes may take over a run whose process has not
   * renewed its lease. Default 10,000.
   */
  readonly leaseMs?: number | undefined;
  /**
   * Time in milliseconds after which a run that only waits for reviews is suspended. 0:
   * immediately. Default: never.
   */
  readonly suspendAfterMs?: number | undefined;
  /** Limit of the size of an entry in bytes. Default 8,388,608. */
  readonly maxEntryBytes?: number | undefined;
  /** Whether creating an ensemble resumes its runs whose process has died. Default false. */
  readonly resumeOnStart?: boolean | undefined;
  /**
   * Encrypts entries with AES-256-GCM. A key has 32 bytes, in base64. `previous` keys are used for
   * decryption only. Default: the codec of `Tokens.JournalCodec`. Without a codec, secrets are
   * removed from entries.
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
