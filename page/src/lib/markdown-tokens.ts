import { Lexer, type Token } from "marked";
import { MAX_DEPTH, tamed } from "./markdown-safety.js";

/** Longer texts are shown without parsing. */
const MAX_LENGTH = 100_000;
/**
 * Texts with more lines are shown without parsing: the lexer reads the rest of a list again for
 * each line.
 */
const MAX_LINES = 3_000;

/**
 * Returns the tokens of Markdown of a model. Returns `undefined` if the text is too large or nested
 * too deeply.
 */
export function markdownTokens(text: string): readonly Token[] | undefined {
  if (text.length > MAX_LENGTH || hasMoreLines(text, MAX_LINES)) return undefined;
  try {
    return new BoundedLexer({ gfm: true }).lex(tamed(text));
  } catch (error) {
    if (error instanceof RangeError) return undefined; // stack overflow
    throw error;
  }
}

/** Keeps emphasis and links as text if they are nested beyond a limit. */
class BoundedLexer extends Lexer {
  #depth = 0;

  override inlineTokens(text: string, tokens: Token[] = []): Token[] {
    if (this.#depth >= MAX_DEPTH) {
      tokens.push({ type: "text", raw: text, text });
      return tokens;
    }
    this.#depth++;
    try {
      return super.inlineTokens(text, tokens);
    } finally {
      this.#depth--;
    }
  }
}

function hasMoreLines(text: string, most: number): boolean {
  let place = -1;
  for (let lines = 1; lines <= most; lines++) {
    place = text.indexOf("\n", place + 1);
    if (place < 0) return false;
  }
  return true;
}
