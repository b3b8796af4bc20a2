import type { CaptureModeDefinition } from "../../../contracts/capture.js";
import type { Redactor } from "../../../contracts/redaction.js";
import { redactorOfMode } from "../../../contracts/redaction.js";

/**
 * Processes all contents of a trace: applies the `redact` of the mode, then removes the known
 * secrets of the run. Values become plain, bounded JSON.
 */
export class TraceKeeper {
  readonly #mode: CaptureModeDefinition;
  readonly #redactor: Redactor;

  constructor(mode: CaptureModeDefinition, redactor: Redactor) {
    this.#mode = mode;
    this.#redactor = redactorOfMode(mode, redactor);
  }

  /** Returns an empty text in modes without texts. */
  text(text: string): string {
    return this.#mode.capturesTexts === false ? "" : this.name(text);
  }

  /** Returns the name of a model or kind, which every mode keeps. */
  name(text: string): string {
    if (text === "") return text;
    // Models and executors are code of users, so a declared text may be any value.
    return typeof text === "string"
      ? this.#redactor.redactText(text)
      : (JSON.stringify(this.#redactor.redactValue(text)) ?? "");
  }

  /** Returns no value in modes without texts. */
  value(value: unknown): unknown {
    if (this.#mode.capturesTexts === false) return undefined;
    return this.#redactor.redactValue(value);
  }
}
