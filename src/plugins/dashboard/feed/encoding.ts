import type { EnsembleEvent } from "../../../contracts/events.js";
import type { Redactor } from "../../../contracts/redaction.js";
import type { LogEntry } from "../../../contracts/run-store.js";
import { shortened, shortValue } from "../protocol/run-data.js";
import { withShownMessages } from "../../shared/redact-event.js";
import { isPlainField, slimEntry, slimNumbered } from "../protocol/slim.js";
import type { ShownTexts } from "../protocol/snapshot.js";

/** Maximum number of remembered texts of one run. */
const MAX_TEXTS = 4_096;
const LONGEST_TEXT = 100;
/** The maximum length of a chain of causes. */
const MAX_CAUSES = 8;
/** Fields that entries omit. The log has the run id, and entries have their own numbers. */
const LEFT_OUT = new Set(["v", "seq", "runId", "type", "at"]);

/** Creates the two forms of the entries of one run. Both are redacted JSON data. */
export interface EntryEncoder {
  /** Converts the texts of summaries and snapshots. */
  readonly shown: ShownTexts;
  slim(n: number, event: EnsembleEvent): LogEntry;
  full(n: number, event: EnsembleEvent): LogEntry;
  /** Returns the shown text of a streamed answer. */
  text(text: string): string;
}

/**
 * Returns an encoder. With `contents: false`, it keeps names, numbers and structure, and omits the
 * texts of tasks, models, tools and people.
 */
export function entryEncoder(redactor: Redactor, contents: boolean): EntryEncoder {
  const name = remembered((text) => redactor.redactText(text));
  const shown: ShownTexts = contents
    ? {
        name,
        text: (text) => shortened(name(text)),
        value: (value) => shortValue(redactor.redactValue(value)),
      }
    : { name, text: () => "", value: () => ({}) };
  const slim = (n: number, event: EnsembleEvent): LogEntry =>
    boardFields(event) === undefined
      ? // The fields are read by their names.
        slimNumbered(n, event as EnsembleEvent & Readonly<Record<string, unknown>>, shown)
      : slimEntry(numbered(n, event), shown);
  return {
    shown,
    slim,
    full: contents ? (n, event) => fullEntry(numbered(n, event), redactor) : slim,
    text: contents ? (text) => redactor.redactText(text) : () => "",
  };
}

/** Caches the last results of a function. Names and short descriptions occur in many entries. */
function remembered(work: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    let result = known.get(text);
    if (result === undefined) {
      result = work(text);
      if (known.size >= MAX_TEXTS) known.clear();
      if (text.length <= LONGEST_TEXT) known.set(text, result);
    }
    return result;
  };
}

/** Returns the fields that the protocol has in addition to those of the kernel. */
function boardFields({ type, at, runId }: EnsembleEvent): object | undefined {
  switch (type) {
    case "ensemble_started":
    case "ensemble_completed":
      return { ensembleId: runId };
    case "file_changed":
      return { timestamp: at };
    default:
      return undefined;
  }
}

function numbered(n: number, event: EnsembleEvent): LogEntry {
  return { ...boardFields(event), ...withShownMessages(event), n };
}

function fullEntry(entry: LogEntry, redactor: Redactor): LogEntry {
  const { n, at, type } = entry;
  const kept: [string, unknown][] = [];
  for (const [name, value] of Object.entries(entry)) {
    const isRunId = name === "runId" && type === "ensemble_started";
    if (value === undefined || name === "n" || (LEFT_OUT.has(name) && !isRunId)) continue;
    kept.push([name, isPlainField(type, name) ? value : redactedField(value, redactor)]);
  }
  return { n, at, type, ...Object.fromEntries(kept) };
}

/** Redacts a text by its content, even if its field is named like a secret, such as `token`. */
function redactedField(value: unknown, redactor: Redactor): unknown {
  if (typeof value === "string") return redactor.redactText(value);
  return value instanceof Error ? errorData(value, redactor) : redactor.redactValue(value);
}

/** Returns an error with its causes as data. */
function errorData(error: Error, redactor: Redactor, left = MAX_CAUSES): object {
  const { code, hint } = error as { readonly code?: unknown; readonly hint?: unknown };
  return {
    name: redactor.redactText(error.name),
    message: redactor.redactText(error.message),
    ...(typeof code === "string" && { code }),
    ...(typeof hint === "string" && { hint: redactor.redactText(hint) }),
    ...(error.cause instanceof Error &&
      left > 1 && { cause: errorData(error.cause, redactor, left - 1) }),
  };
}
