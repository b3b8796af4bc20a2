import type { EnsembleEvent } from "../../contracts/events.js";
import type { Redactor } from "../../contracts/redaction.js";
import { ValidationError } from "../../contracts/errors.js";
import { redactorOf } from "../../contracts/redaction.js";
import { messageOf } from "../../util/errors.js";
import { codeOf } from "../../util/objects.js";
import { shownMessages } from "./shown-messages.js";

/** An event as plain JSON data, without secrets and without live objects. */
export type RedactedEvent = Pick<EnsembleEvent, "type" | "v" | "seq" | "runId" | "at"> &
  Readonly<Record<string, unknown>>;

/**
 * Returns an event with its texts redacted, for observers that show it elsewhere. Its live objects
 * (`taskOutput`, `cause`, ...) are unchanged.
 */
export function redactEvent(event: EnsembleEvent, redactor: Redactor): EnsembleEvent {
  const texts = Object.entries(event).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, redactor.redactText(value)]] : [],
  );
  // the fields are the same, and each text stays a text
  return { ...event, ...Object.fromEntries(texts) } as EnsembleEvent;
}

/**
 * Returns an event as data that may leave the process. The secrets known to its run are replaced by
 * `[redacted]`. Live objects (`taskOutput`, `request`, ...) become JSON. An error (`cause`) becomes
 * `{ name, message, code }`. Images and files in messages become
 * `{ type, mediaType, bytes, name }`. Pass the event object that a listener received. A secret that
 * a model streams in several `token` events is not recognised.
 *
 * @throws ValidationError for a copy of an event and for any other value, because their run is
 * unknown.
 */
export function redacted(event: EnsembleEvent): RedactedEvent {
  const redactor = redactorOf(event);
  if (redactor === undefined)
    throw new ValidationError(
      "redacted() takes an event as a listener got it: the run of this one is not known",
      { hint: "Pass the event itself, not a copy and not one that was read from JSON." },
    );
  const redact = (value: unknown): unknown => {
    if (typeof value === "string") return redactor.redactText(value);
    return redactor.redactValue(value instanceof Error ? errorFields(value) : value);
  };
  const fields = Object.entries(withShownMessages(event)).flatMap(
    // field names are not checked, because one of them is `token`
    ([name, value]: [string, unknown]) => (value === undefined ? [] : [[name, redact(value)]]),
  );
  return Object.fromEntries(fields) as RedactedEvent; // with the same names
}

/** Returns the event without the content of images and files in its messages. */
export function withShownMessages(event: EnsembleEvent): EnsembleEvent {
  return event.type === "llm_iteration_started"
    ? { ...event, messages: shownMessages(event.messages) }
    : event;
}

/**
 * Returns the fields of an error that may leave the process. `code` is absent unless it is a text.
 */
function errorFields(error: Error): Readonly<Record<string, unknown>> {
  const code = codeOf(error);
  return { name: error.name, message: messageOf(error), ...(typeof code === "string" && { code }) };
}
