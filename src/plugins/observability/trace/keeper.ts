import type { CaptureModeDefinition } from "../../../contracts/capture.js";
import type { Redactor } from "../../../contracts/redaction.js";

/** What stands for a value that the capture mode's own `redact` could not deal with: a broken guard never opens the gate. */
const WITHHELD = "[redacted: the redact function of the capture mode failed]";

/** Everything that goes into a trace goes through here: the mode's `redact` first, then the secrets that the run knows of; values become plain, bounded JSON. */
export class TraceKeeper {
  readonly #mode: CaptureModeDefinition;
  readonly #redactor: Redactor;

  constructor(mode: CaptureModeDefinition, redactor: Redactor) {
    this.#mode = mode;
    this.#redactor = redactor;
  }

  /** Nothing of it in modes that keep no texts. */
  text(text: string): string {
    return this.#mode.capturesTexts === false ? "" : this.name(text);
  }

  /** A text that says which model or kind it was; kept in every mode. */
  name(text: string): string {
    if (text === "") return text;
    const seen: unknown = this.#mode.redact === undefined ? text : this.#seen(text);
    // Models, executors and the mode's own function are other people's code: what should be a text may be anything.
    return typeof seen === "string"
      ? this.#redactor.redactText(seen)
      : (JSON.stringify(this.#redactor.redactValue(seen)) ?? "");
  }

  /** Nothing in modes that keep no texts. */
  value(value: unknown): unknown {
    if (this.#mode.capturesTexts === false) return undefined;
    return this.#redactor.redactValue(
      value === undefined || this.#mode.redact === undefined ? value : this.#seen(value),
    );
  }

  #seen(value: unknown): unknown {
    try {
      return this.#mode.redact?.(value);
    } catch {
      return WITHHELD;
    }
  }
}
