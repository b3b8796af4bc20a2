import { isDeepStrictEqual } from "node:util";
import type { ContextFormatSavings, ContextFormatter } from "../../contracts/context-format.js";
import { importOptional } from "../../util/import-optional.js";
import { ValidationError } from "../../contracts/errors.js";

/** The functions of the package and of the token estimate. */
interface Parts {
  encode(value: unknown): string;
  decode(text: string): unknown;
  count(text: string): number;
}

/** Loads the package. @throws ValidationError if the package is not installed. */
export async function startToon(): Promise<ContextFormatter> {
  const { estimateTokenCount } = await import("tokenx");
  try {
    const { encode, decode } =
      await importOptional<Pick<Parts, "encode" | "decode">>("@toon-format/toon");
    return new ToonFormatter({
      encode: (value) => encode(value),
      decode: (text) => decode(text),
      count: (text) => estimateTokenCount(text),
    });
  } catch (cause) {
    throw new ValidationError(
      "TOON context format requires the package @toon-format/toon, which is not installed.",
      {
        cause,
        hint: "Run: npm install @toon-format/toon",
      },
    );
  }
}

/** Formats values as TOON if this takes fewer tokens and is lossless. */
class ToonFormatter implements ContextFormatter {
  #payloads = 0;
  #converted = 0;
  #originalTokens = 0;
  #sentTokens = 0;

  constructor(readonly parts: Parts) {}

  get savings(): ContextFormatSavings {
    return {
      name: "TOON",
      payloads: this.#payloads,
      converted: this.#converted,
      originalTokens: this.#originalTokens,
      sentTokens: this.#sentTokens,
    };
  }

  format(value: unknown, text: string): string {
    const original = this.parts.count(text);
    const toon = this.#encoded(value);
    const sent = toon === undefined ? original : this.parts.count(toon);
    this.#payloads++;
    this.#originalTokens += original;
    this.#sentTokens += Math.min(sent, original);
    if (toon === undefined || sent >= original) return text;
    this.#converted++;
    return toon;
  }

  /** Returns the value as TOON. Returns `undefined` if decoding does not return an equal value. */
  #encoded(value: unknown): string | undefined {
    try {
      const json: unknown = JSON.parse(JSON.stringify(value));
      const toon = this.parts.encode(json);
      return isDeepStrictEqual(this.parts.decode(toon), json) ? toon : undefined;
    } catch {
      return undefined; // not JSON, or beyond the limits of the format: the text is not changed
    }
  }
}
