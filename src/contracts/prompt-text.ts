import { ValidationError } from "./errors.js";
import { fillTemplate, inputText, variablesIn } from "./template.js";
import { preview } from "./validation.js";

/**
 * A part of a {@link PromptText}: text of the author, or data that is never scanned for variables.
 */
interface Part {
  readonly text: string;
  readonly isData: boolean;
}

/**
 * A text that consists of template parts by the author and of interpolated data. Created by {@link
 * prompt}. Accepted by `Task` (`description`, `expectedOutput`), `Agent` (`goal`, `background`) and
 * reviews (`prompt`).
 */
export class PromptText {
  readonly #parts: readonly Part[];

  /** Internal: use {@link prompt}. */
  constructor(parts: readonly Part[]) {
    this.#parts = parts;
    Object.freeze(this);
  }

  /** The names of the variables in the template parts. */
  get variables(): readonly string[] {
    return this.#parts.flatMap(({ text, isData }) => (isData ? [] : variablesIn(text)));
  }

  /**
   * Returns the text with its variables filled. Adds the names of variables without a value to
   * `missing` and leaves them unfilled.
   */
  fill(inputs: Readonly<Record<string, unknown>>, missing: Set<string> = new Set()): string {
    return this.#parts
      .map(({ text, isData }) => (isData ? text : fillTemplate(text, inputs, missing)))
      .join("");
  }

  /** Returns the text with its variables unfilled. */
  toString(): string {
    return this.fill({});
  }

  /** Adds the parts of `text` to `parts`. */
  static addParts(text: PromptText, parts: Part[]): void {
    parts.push(...text.#parts);
  }
}

/** The type of options that accept data from outside. */
export type Text = string | PromptText;

/**
 * Tags a template literal that contains data from outside: prompt`Triage this ticket:
 * ${ticket.text}`. Interpolated values remain literal, even if they contain braces. In the
 * literal's own text, `{topic}` is filled from the run's inputs, and `{{topic}}` becomes `{topic}`.
 * Strings are inserted unchanged, objects as JSON, and null as an empty text. A nested PromptText
 * keeps its variables.
 *
 * @throws ValidationError for an interpolated value that is undefined, a function or a symbol.
 */
export function prompt(written: TemplateStringsArray, ...values: readonly unknown[]): PromptText {
  const parts: Part[] = [];
  written.forEach((text, i) => {
    parts.push({ text, isData: false });
    if (i === values.length) return;
    const value = values[i];
    if (value instanceof PromptText) PromptText.addParts(value, parts);
    else parts.push({ text: dataText(value, i, text), isData: true });
  });
  return new PromptText(parts);
}

function dataText(value: unknown, index: number, before: string): string {
  if (value !== undefined && typeof value !== "function" && typeof value !== "symbol")
    return inputText(String(index + 1), value);
  throw new ValidationError(
    `prompt: value ${index + 1} (after '${before.slice(-40)}') can't be written as text, got: ${preview(value)}`,
  );
}

/** @throws ValidationError with `message` unless `value` is a non-blank text. */
export function requirePrompt(value: unknown, message: string): void {
  const text = value instanceof PromptText ? value.toString() : value;
  if (typeof text === "string" && text.trim() !== "") return;
  throw new ValidationError(
    typeof text === "string" ? message : `${message}, got: ${preview(text)}`,
  );
}
