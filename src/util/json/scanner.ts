const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;

/**
 * Follows JSON character by character as it comes, before it is parsed: how deep it is, and how much of it there is. Knows nothing else of its
 * syntax. What it looks for is ASCII, so that bytes of UTF-8 and units of UTF-16 will do.
 */
export class JsonScanner {
  /** The greatest depth so far. */
  deepest = 0;
  /** Objects and lists. */
  opened = 0;
  colons = 0;
  commas = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;

  /** Takes the next character code or byte of the text. */
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

/** What a reader of tokens came upon. `end` follows the whole value, `invalid` what the grammar does not allow, `unfinished` the end of the text before it. */
export type JsonToken = "open" | "close" | "key" | "scalar" | "end" | "invalid" | "unfinished";

/** What the grammar allows next. */
type Expectation = "value" | "valueOrClose" | "key" | "keyOrClose" | "colon" | "commaOrClose";

const SPACE = /[ \t\r\n]*/y;
const LITERAL = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
/** What ends a string, breaks it off, or hides the character behind it. */
const STRING_MARK = /["\\\r\n]/g;

/** Reads the tokens of a JSON value strictly, without building it. Of strings only their end is looked for, and that they have no line breaks. */
export class JsonTokens {
  /** Where the last token begins; of `invalid` and `unfinished`, what is wrong. */
  start: number;
  /** Behind the last token. */
  end: number;
  readonly #text: string;
  /** Of each open object or list, whether it is a list. */
  readonly #lists: boolean[] = [];
  #expected: Expectation = "value";
  #isDone = false;

  constructor(text: string, start = 0) {
    this.#text = text;
    this.start = this.end = start;
  }

  /** Objects and lists that are open. */
  get depth(): number {
    return this.#lists.length;
  }

  /** Whether the innermost open one is a list. */
  get isInList(): boolean {
    return this.#lists[this.#lists.length - 1] === true;
  }

  next(): JsonToken {
    for (;;) {
      SPACE.lastIndex = this.end;
      SPACE.test(this.#text); // matches always
      this.start = this.end = SPACE.lastIndex;
      const char = this.#text[this.start];
      if (this.#isDone) return char === undefined ? "end" : "invalid";
      if (char === undefined) return "unfinished";
      const token = this.#tokenAt(char);
      if (token !== undefined) return token;
    }
  }

  /** `undefined` for a comma or a colon. */
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

  /** Behind a whole value. */
  #after(token: JsonToken): JsonToken {
    this.#expected = "commaOrClose";
    this.#isDone = this.depth === 0;
    return token;
  }
}

/** The end of the object or list that opens at `start`, or why it has none. */
export type JsonScan =
  | { readonly kind: "value"; readonly end: number }
  | { readonly kind: "invalid"; readonly at: number }
  | { readonly kind: "unfinished" }
  | { readonly kind: "tooDeep" };

/** Follows an object or a list from its opening bracket. Linear in what it reads; escapes in strings are left to the parser. */
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

/** The greatest number of brackets that are open at once, those in strings too: no less than the depth of the JSON that a broken text means. */
export function bracketDepth(text: string): number {
  let depth = 0;
  let most = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    if (bracket === "]" || bracket === "}") depth--;
    else if (++depth > most) most = depth;
  }
  return most;
}
