import type { CaptureModeDefinition } from "../../../contracts/capture.js";
import type { Redactor } from "../../../contracts/redaction.js";
import { redactorOfMode } from "../../../contracts/redaction.js";

/** Everything that goes into a trace goes through here: the mode's `redact` first, then the secrets that the run knows of; values become plain, bounded JSON. */
export class TraceKeeper {
  readonly #mode: CaptureModeDefinition;
  readonly #redactor: Redactor;

  constructor(mode: CaptureModeDefinition, redactor: Redactor) {
    this.#mode = mode;
    this.#redactor = redactorOfMode(mode, redactor);
  }

  /** Nothing of it in modes that keep no texts. */
  text(text: string): string {
    return this.#mode.capturesTexts === false ? "" : this.name(text);
  }

  /** The name of a model or kind; kept in every mode. */
  name(text: string): string {
    if (text === "") return text;
    // Models and executors are other people's code: what should be a text may be anything.
    return typeof text === "string"
      ? this.#redactor.redactText(text)
      : (JSON.stringify(this.#redactor.redactValue(text)) ?? "");
  }

  /** Nothing in modes that keep no texts. */
  value(value: unknown): unknown {
    if (this.#mode.capturesTexts === false) return undefined;
    return this.#redactor.redactValue(value);
  }
}
