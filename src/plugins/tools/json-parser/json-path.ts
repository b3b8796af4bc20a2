import { isRefusedKey } from "../../../util/json/refused-keys.js";
import { InputProblem } from "../shared/input-problem.js";

/** One step of a path: a property name or a list index. */
export type PathStep = string | number;

const BARE = /[^.[\]"']+/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'/y;
const INDEX = /\[(\d{1,10})\]/y;

/**
 * Parses `order.items[0]["unit.price"]`: steps separated by dots, list indexes in brackets, and
 * names with dots or brackets in quotes.
 */
class PathReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): readonly PathStep[] {
    const steps: PathStep[] = [];
    this.#root();
    while (this.#at < this.#text.length) {
      if (this.#text[this.#at] === "[") {
        steps.push(this.#bracket());
        continue;
      }
      if (steps.length > 0 || this.#at > 0) this.#dot();
      steps.push(this.#name());
    }
    return steps;
  }

  /** Parses the `$` of JSONPath, which stands for the whole document. */
  #root(): void {
    if (/^\$(?=$|[.[])/.test(this.#text)) this.#at = 1;
  }

  #dot(): void {
    if (this.#text[this.#at] !== ".") throw this.#malformed("expected a dot or a bracket");
    this.#at++;
  }

  #name(): string {
    return (
      this.#quoted() ??
      this.#allowed(this.#match(BARE)?.[0] ?? "") ??
      this.#refuse("expected a name")
    );
  }

  #bracket(): PathStep {
    const index = this.#match(INDEX);
    if (index !== undefined) return Number(index[1]);
    const start = this.#at++;
    const name = this.#quoted();
    if (name !== undefined && this.#text[this.#at] === "]") {
      this.#at++;
      return name;
    }
    this.#at = start;
    return this.#refuse('expected [n] or ["name"]');
  }

  #quoted(): string | undefined {
    const match = this.#match(QUOTED);
    if (match === undefined) return undefined;
    const name = (match[1] ?? match[2] ?? "").replace(/\\(.)/gs, "$1");
    return this.#allowed(name) ?? name; // a quoted name may be empty
  }

  #allowed(name: string): string | undefined {
    if (isRefusedKey(name))
      throw new InputProblem(`Invalid path: the key '${name}' is not allowed`);
    return name === "" ? undefined : name;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) return undefined;
    this.#at += match[0].length;
    return match;
  }

  #refuse(expected: string): never {
    throw this.#malformed(expected);
  }

  #malformed(expected: string): InputProblem {
    const found = this.#text.slice(this.#at, this.#at + 20);
    return new InputProblem(
      `Invalid path: ${expected} at position ${this.#at}, found ${found === "" ? "the end" : `'${found}'`}`,
    );
  }
}

/**
 * Returns the steps of a path. `$`, the whole document, has none.
 * @throws InputProblem for a malformed path, and for keys such as `__proto__`
 */
export function parsePath(path: string): readonly PathStep[] {
  return new PathReader(path).whole();
}
