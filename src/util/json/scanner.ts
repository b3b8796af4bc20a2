const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;

/**
 * Measures depth and number of values of JSON as it arrives, before parsing. Checks no other
 * syntax. Looks for ASCII only, and therefore accepts both UTF-8 bytes and UTF-16 units.
 */
export class JsonScanner {
  /** The greatest depth so far. */
  deepest = 0;
  /** Number of objects and lists. */
  opened = 0;
  colons = 0;
  commas = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;

  /** Reads the next character code or byte of the text. */
  scan(code: number): void {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (code === BACKSLASH) this.#escaped = true;
      else if (code === QUOTE) this.#inString = false;
    } else if (code === QUOTE) this.#inString = true;
    else if (code === COMMA) this.commas++;
    else if (code === COLON) this.colons++;
    else if ((code | 32) === 123)
      this.#open(); // [ and {
    else if ((code | 32) === 125) this.#depth--; // ] and }
  }

  #open(): void {
    this.opened++;
    if (++this.#depth > this.deepest) this.deepest = this.#depth;
  }
}

/**
 * The kind of a token. `end`: the whole value was read. `invalid`: a syntax error. `unfinished`:
 * the text ends before the value.
 */
export type JsonToken = "open" | "close" | "key" | "scalar" | "end" | "invalid" | "unfinished";

/** The tokens that the grammar allows next. */
type Expectation = "value" | "valueOrClose" | "key" | "keyOrClose" | "colon" | "commaOrClose";

const SPACE = /[ \t\r\n]*/y;
const LITERAL = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
/** Characters that end a string, break it, or escape the next character. */
const STRING_MARK = /["\\\r\n]/g;

/**
 * Reads the tokens of a JSON value strictly, without building it. In strings, looks only for the
 * end and for forbidden line breaks.
 */
export class JsonTokens {
  /** Start of the last token. For `invalid` and `unfinished`, the position of the error. */
  start: number;
  /** Offset after the last token. */
  end: number;
  readonly #text: string;
  /** For each open object or list, whether it is a list. */
  readonly #lists: boolean[] = [];
  #expected: Expectation = "value";
  #isDone = false;

  constructor(text: string, start = 0) {
    this.#text = text;
    this.start = this.end = start;
  }

  /** Number of open objects and lists. */
  get depth(): number {
    return this.#lists.length;
  }

  /** Whether the innermost open value is a list. */
  get isInList(): boolean {
    return this.#lists[this.#lists.length - 1] === true;
  }

  next(): JsonToken {
    for (;;) {
      SPACE.lastIndex = this.end;
      SPACE.test(this.#text); // always matches
      this.start = this.end = SPACE.lastIndex;
      const char = this.#text[this.start];
      if (this.#isDone) return char === undefined ? "end" : "invalid";
      if (char === undefined) return "unfinished";
      const token = this.#tokenAt(char);
      if (token !== undefined) return token;
    }
  }

  /** Returns `undefined` for a comma or a colon. */
  #tokenAt(char: string): JsonToken | undefined {
    const expected = this.#expected;
    if (char === "," || char === ":") return this.#separator(char);
    if (char === "}" || char === "]") return this.#close(char === "]");
    if (expected === "key" || expected === "keyOrClose")
      return char === '"' ? this.#string("key", "colon") : "invalid";
    if (expected !== "value" && expected !== "valueOrClose") return "invalid";
    if (char === "{" || char === "[") return this.#open(char === "[");
    if (char === '"') return this.#string("scalar", "commaOrClose");
    LITERAL.lastIndex = this.start;
    if (!LITERAL.test(this.#text)) return "invalid";
    this.end = LITERAL.lastIndex;
    return this.#after("scalar");
  }

  #separator(char: string): JsonToken | undefined {
    if (this.#expected !== (char === "," ? "commaOrClose" : "colon")) return "invalid";
    this.#expected = char === "," && !this.isInList ? "key" : "value";
    this.end++;
    return undefined;
  }

  #open(isList: boolean): JsonToken {
    this.#lists.push(isList);
    this.#expected = isList ? "valueOrClose" : "keyOrClose";
    this.end++;
    return "open";
  }

  #close(isList: boolean): JsonToken {
    const mayClose = isList ? "valueOrClose" : "keyOrClose";
    if (this.isInList !== isList || this.depth === 0) return "invalid";
    if (this.#expected !== "commaOrClose" && this.#expected !== mayClose) return "invalid";
    this.#lists.pop();
    this.end++;
    return this.#after("close");
  }

  #string(token: JsonToken, then: Expectation): JsonToken {
    STRING_MARK.lastIndex = this.start + 1;
    for (;;) {
      const mark = STRING_MARK.exec(this.#text);
      if (mark === null) return "unfinished";
      if (mark[0] === "\\") STRING_MARK.lastIndex++;
      else if (mark[0] !== '"') return "invalid";
      else break;
    }
    this.end = STRING_MARK.lastIndex;
    this.#expected = then;
    return this.depth === 0 ? this.#after(token) : token;
  }

  /** Updates the expectation after a whole value. */
  #after(token: JsonToken): JsonToken {
    this.#expected = "commaOrClose";
    this.#isDone = this.depth === 0;
    return token;
  }
}

/** The end of the object or list that opens at `start`, or the reason why there is no end. */
export type JsonScan =
  | { readonly kind: "value"; readonly end: number }
  | { readonly kind: "invalid"; readonly at: number }
  | { readonly kind: "unfinished" }
  | { readonly kind: "tooDeep" };

/**
 * Finds the end of the object or list that opens at `start`, in linear time. Does not check escapes
 * in strings.
 */
export function scanJson(text: string, start: number, maxDepth: number): JsonScan {
  const tokens = new JsonTokens(text, start);
  for (;;) {
    const token = tokens.next();
    if (token === "invalid") return { kind: "invalid", at: tokens.start };
    if (token === "unfinished") return { kind: "unfinished" };
    if (tokens.depth > maxDepth) return { kind: "tooDeep" };
    if (tokens.depth === 0) return { kind: "value", end: tokens.end };
  }
}

/**
 * Returns the greatest number of open brackets, including brackets in strings. Never less than the
 * depth after a repair of invalid JSON.
 */
export function bracketDepth(text: string): number {
  let depth = 0;
  let most = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    if (bracket === "]" || bracket === "}") depth--;
    else if (++depth > most) most = depth;
  }
  return most;
}
