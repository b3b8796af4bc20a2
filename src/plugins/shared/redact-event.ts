import type { EnsembleEvent } from "../../contracts/events.js";
import type { Redactor } from "../../contracts/redaction.js";

/** An event with its texts redacted, for observers that show it elsewhere. Live objects in it (`taskOutput`, `cause`, ...) stay as they are. */
export function redactEvent(event: EnsembleEvent, redactor: Redactor): EnsembleEvent {
  const texts = Object.entries(event).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, redactor.redactText(value)]] : [],
  );
  return { ...event, ...Object.fromEntries(texts) } as EnsembleEvent; // with the same fields, texts for texts
}
