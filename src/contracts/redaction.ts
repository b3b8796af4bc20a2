import type { Redactor } from "../util/redaction/redactor.js";
import { createRedactor } from "../util/redaction/redactor.js";

export type { Redactor, SecretFilter } from "../util/redaction/redactor.js";

/** The key under which an output and a trace keep the redactor of their run. */
export const REDACTOR: unique symbol = Symbol.for("agentensemble/redactor") as never;

/** Returns the object it is given, so that a class which extends it adds its private fields to that object. */
class Given {
  constructor(given: object) {
    return given;
  }
}

/**
 * Adds the redactor of its run to an event, as a private field: no comparison, no copy and no JSON of the event contains it. Each event is marked, and
 * `Object.defineProperty` takes longer than everything else that is done for a token.
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

/** Of all copies of this package, one class marks and reads the events. */
const SHARED = Symbol.for("agentensemble/event-mark");
const Mark = ((globalThis as { [SHARED]?: typeof EventMark })[SHARED] ??= EventMark);

/** Makes an event bear the redactor of its run. */
export function markEvent(event: object, redactor: Redactor): void {
  new Mark(event, redactor);
}

/** The redactor of the run that an event, an output or a trace belongs to; `undefined` for anything else. */
export function redactorOf(value: unknown): Redactor | undefined {
  return typeof value === "object" && value !== null
    ? (Mark.redactorOf(value) ?? (value as { readonly [REDACTOR]?: Redactor })[REDACTOR])
    : undefined;
}

/**
 * Takes secrets out of what an error says, before the text leaves the process: those that the runs
 * know of which the error and its causes ended, else those of the environment.
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

/** What stands for a value that the capture mode's own `redact` could not deal with: a broken guard never opens the gate. */
const WITHHELD = "[redacted: the redact function of the capture mode failed]";

/** A redactor that applies `redact` of a capture mode before it takes secrets out. The same redactor for a mode without one. */
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
      // The mode's function is other people's code: what should be a text may be anything.
      return typeof shown === "string"
        ? redactor.redactText(shown)
        : (JSON.stringify(redactor.redactValue(shown)) ?? "");
    },
  };
}
