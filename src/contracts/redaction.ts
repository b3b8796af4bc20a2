import type { Redactor } from "../util/redaction/redactor.js";
import { createRedactor } from "../util/redaction/redactor.js";

export type { Redactor, SecretFilter } from "../util/redaction/redactor.js";

/** The key under which an output and a trace store the redactor of their run. */
export const REDACTOR: unique symbol = Symbol.for("agentensemble/redactor") as never;

/**
 * A base class whose constructor returns its argument. A subclass therefore adds its private fields
 * to that object.
 */
class Given {
  constructor(given: object) {
    return given;
  }
}

/**
 * Adds the redactor of its run to an event as a private field. Comparisons, copies and JSON omit
 * the field. Every event is marked. `Object.defineProperty` would take longer than all other work
 * for a token.
 */
class EventMark extends Given {
  readonly #redactor: Redactor;

  constructor(event: object, redactor: Redactor) {
    super(event);
    this.#redactor = redactor;
  }

  static redactorOf(value: object): Redactor | undefined {
    return #redactor in value ? value.#redactor : undefined;
  }
}

/** The class that marks and reads events is shared by all copies of this package. */
const SHARED = Symbol.for("agentensemble/event-mark");
const Mark = ((globalThis as { [SHARED]?: typeof EventMark })[SHARED] ??= EventMark);

/** Marks an event with the redactor of its run. */
export function markEvent(event: object, redactor: Redactor): void {
  new Mark(event, redactor);
}

/**
 * Returns the redactor of the run to which an event, an output or a trace belongs. Returns
 * `undefined` for any other value.
 */
export function redactorOf(value: unknown): Redactor | undefined {
  return typeof value === "object" && value !== null
    ? (Mark.redactorOf(value) ?? (value as { readonly [REDACTOR]?: Redactor })[REDACTOR])
    : undefined;
}

/**
 * Returns a function that redacts texts of an error before they leave the process. Uses the secrets
 * of the runs that ended with the error or one of its causes. Without such a run, uses the secrets
 * of the environment.
 */
export function errorRedactor(error: unknown): (text: string) => string {
  const found = new Set<Redactor>();
  const seen = new Set<unknown>();
  for (let e = error; e instanceof Error && !seen.has(e); e = e.cause) {
    seen.add(e);
    const redactor = redactorOf((e as { readonly output?: unknown }).output);
    if (redactor !== undefined) found.add(redactor);
  }
  if (found.size === 0) found.add(createRedactor());
  return (text) => [...found].reduce((result, redactor) => redactor.redactText(result), text);
}

/**
 * The text that replaces a value if `redact` of the capture mode failed. The value may contain
 * secrets.
 */
const WITHHELD = "[redacted: the redact function of the capture mode failed]";

/**
 * Returns a redactor that applies `redact` of a capture mode before it removes secrets. Returns the
 * given redactor if the mode has no `redact`.
 */
export function redactorOfMode(
  mode: { redact?(value: unknown): unknown },
  redactor: Redactor,
): Redactor {
  if (mode.redact === undefined) return redactor;
  const seen = (value: unknown): unknown => {
    try {
      return mode.redact?.(value);
    } catch {
      return WITHHELD;
    }
  };
  const redactValue = (value: unknown): unknown =>
    redactor.redactValue(value === undefined ? value : seen(value));
  return {
    redactValue,
    redactText(text) {
      const shown = text === "" ? text : seen(text);
      // The mode's function may return any value for a text.
      return typeof shown === "string"
        ? redactor.redactText(shown)
        : (JSON.stringify(redactor.redactValue(shown)) ?? "");
    },
  };
}
