/** A step of a path into a JSON document: a name or an index. */
export type JsonPath = readonly (string | number)[];

/** White space, then an atom, a mark, or the quote that begins a string. Strings are read by hand: an expression for them would need a stack of their length. */
const TOKEN =
  /[ \t\r\n]*(?:(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|([{}[\],:"]))/y;
/** What may go on a string: anything but its end, a control character or a backslash that escapes nothing. */
const NOT_IN_STRING = /["\\\u0000-\u001f]/g;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

type Expected = "value" | "key" | "colon" | "comma" | "end";

/** Where one open object or list is. */
interface Level {
  readonly list: boolean;
  step: string | number;
}

/** Reads a JSON document without keeping it, to say where something stands. */
class Scanner {
  readonly #text: string;
  readonly #levels: Level[] = [];
  #expected: Expected = "value";
  /** Whether the object or list was just opened, so that it may close. */
  #fresh = false;

  constructor(text: string) {
    this.#text = text;
  }

  /** Offset of the first thing that is wrong, or of the value at `path`; -1 where there is neither. */
  find(path: JsonPath | undefined): number {
    TOKEN.lastIndex = 0;
    for (;;) {
      const from = TOKEN.lastIndex;
      const match = TOKEN.exec(this.#text);
      if (match === null) return this.#rest(from);
      const token = match[1] ?? match[2] ?? "";
      const start = TOKEN.lastIndex - token.length;
      if (this.#expected === "value" && token !== "]" && path !== undefined && this.#isAt(path))
        return start;
      if (token === '"') TOKEN.lastIndex = this.#stringEnd(start);
      if (TOKEN.lastIndex === 0 || !this.#accept(token, start, TOKEN.lastIndex)) return start;
    }
  }

  /** Offset behind the string that begins at `start`; 0 for one that is broken. */
  #stringEnd(start: number): number {
    NOT_IN_STRING.lastIndex = start + 1;
    for (;;) {
      const found = NOT_IN_STRING.exec(this.#text);
      if (found === null || (found[0] !== '"' && found[0] !== "\\")) return 0;
      if (found[0] === '"') return found.index + 1;
      ESCAPE.lastIndex = found.index;
      if (!ESCAPE.test(this.#text)) return 0;
      NOT_IN_STRING.lastIndex = ESCAPE.lastIndex;
    }
  }

  /** What is left when no token fits: nothing, or something wrong. */
  #rest(from: number): number {
    const start = from + (/^[ \t\r\n]*/.exec(this.#text.slice(from))?.[0].length ?? 0);
    return this.#expected === "end" && start === this.#text.length ? -1 : start;
  }

  #isAt(path: JsonPath): boolean {
    return (
      this.#levels.length === path.length &&
      this.#levels.every((level, i) => level.step === path[i])
    );
  }

  #accept(token: string, start: number, end: number): boolean {
    const fresh = this.#fresh;
    this.#fresh = false;
    if (/^[{}[\],:]$/.test(token)) return this.#mark(token, fresh);
    const level = this.#levels.at(-1);
    if (this.#expected === "key" && token === '"' && level !== undefined) {
      level.step = JSON.parse(this.#text.slice(start, end)) as string; // the token is a JSON string
      this.#expected = "colon";
      return true;
    }
    return this.#expected === "value" && this.#closeValue();
  }

  #mark(mark: string, fresh: boolean): boolean {
    const level = this.#levels.at(-1);
    if (mark === "{" || mark === "[") return this.#expected === "value" && this.#open(mark === "[");
    if (mark === ":") return this.#turn("colon", "value");
    if (mark === ",") {
      if (typeof level?.step === "number" && this.#expected === "comma") level.step++;
      return this.#turn("comma", level?.list === true ? "value" : "key");
    }
    if (
      level === undefined ||
      level.list !== (mark === "]") ||
      !(fresh || this.#expected === "comma")
    )
      return false;
    this.#levels.pop();
    return this.#closeValue();
  }

  #open(list: boolean): boolean {
    this.#levels.push({ list, step: list ? 0 : "" });
    this.#expected = list ? "value" : "key";
    this.#fresh = true;
    return true;
  }

  #turn(from: Expected, to: Expected): boolean {
    const fits = this.#expected === from;
    this.#expected = to;
    return fits;
  }

  #closeValue(): boolean {
    this.#expected = this.#levels.length === 0 ? "end" : "comma";
    return true;
  }
}

/** The line, counted from 1, of the value at `path`; without a path, or where the document is broken before it, of the first mistake. */
export function lineInJson(text: string, path?: JsonPath): number {
  const offset = new Scanner(text).find(path);
  return text.slice(0, offset < 0 ? 0 : offset).split("\n").length;
}
