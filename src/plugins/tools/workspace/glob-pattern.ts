/** Syntax that a pattern may use in addition to `*`, `?`, `[...]` and `**`. */
export interface GlobSyntax {
  /** Whether `{a,b}` means alternatives. False for .gitignore files. */
  readonly braces: boolean;
}

const DEEPEST_BRACES = 10;

function quotedPattern(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
}

/** Translates one glob into one regular expression, in a single pass. */
class GlobTranslator {
  readonly #glob: string;
  readonly #syntax: GlobSyntax;
  #at = 0;
  #braces = 0;

  constructor(glob: string, syntax: GlobSyntax) {
    this.#glob = glob;
    this.#syntax = syntax;
  }

  translate(): string {
    let regex = "";
    while (this.#at < this.#glob.length) regex += this.#next();
    if (this.#braces > 0) throw new SyntaxError("a { is never closed");
    return regex;
  }

  #next(): string {
    const letter = this.#glob[this.#at] ?? "";
    switch (letter) {
      case "*":
        return this.#stars();
      case "?":
        this.#at++;
        return "[^/]";
      case "[":
        return this.#choice();
      case "\\":
        this.#at += 2;
        return quotedPattern(this.#glob[this.#at - 1] ?? "\\");
      default:
        this.#at++;
        return this.#syntax.braces ? this.#brace(letter) : quotedPattern(letter);
    }
  }

  #stars(): string {
    const start = this.#at;
    while (this.#glob[this.#at] === "*") this.#at++;
    if (this.#at - start === 1) return "[^/]*";
    const wholeName = start === 0 || this.#glob[start - 1] === "/";
    if (!wholeName || this.#glob[this.#at] !== "/") return ".*";
    this.#at++;
    return "(?:[^/]+/)*"; // also matches no folder: `**/a` finds `a`
  }

  #choice(): string {
    const negated = /[!^]/.test(this.#glob[this.#at + 1] ?? "");
    const start = this.#at + (negated ? 2 : 1);
    const end = this.#glob.indexOf("]", start + 1);
    if (end === -1) throw new SyntaxError("a [ is never closed");
    this.#at = end + 1;
    const content = this.#glob.slice(start, end).replace(/[\\[\]^&~]/g, "\\$&");
    return negated ? `[^/${content}]` : `[${content}]`;
  }

  #brace(letter: string): string {
    if (letter === "{") {
      if (++this.#braces > DEEPEST_BRACES)
        throw new SyntaxError(`more than ${DEEPEST_BRACES} { in each other`);
      return "(?:";
    }
    if (this.#braces > 0 && letter === ",") return "|";
    if (this.#braces === 0 || letter !== "}") return quotedPattern(letter);
    this.#braces--;
    return ")";
  }
}

/**
 * Translates a glob into a regular expression for paths with `/` as separator.
 * @throws SyntaxError for an invalid glob
 */
export function globToRegex(glob: string, syntax: GlobSyntax): string {
  return `^(?s:${new GlobTranslator(glob, syntax).translate()})$`;
}
