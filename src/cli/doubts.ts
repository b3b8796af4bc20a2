import type { KeptEntry } from "../contracts/journal.js";
import { asFields, asText } from "../util/objects.js";

/** A tool call whose end is unknown. */
export interface Doubt {
  /** Identifies the call for `runs settle`. */
  readonly key: string;
  readonly tool: string;
  /** `{identity}@{attempt}` of its task. */
  readonly task: string;
}

/** Returns the calls in doubt, without a settled result, of a run that no process executes. */
export function doubtsIn(entries: readonly KeptEntry[]): readonly Doubt[] {
  return entries.flatMap(({ kind, task, value }) => {
    const fields = asFields(value);
    if (kind !== "intent" || fields?.["settled"] === "again") return [];
    return [{ key: asText(fields?.["idempotencyKey"]), tool: asText(fields?.["tool"]), task }];
  });
}
