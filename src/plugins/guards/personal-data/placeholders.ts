import { createHmac } from "node:crypto";
import type { HookRun } from "../../../contracts/run.js";
import type { Finding } from "../shared/findings.js";
import { isLetter, isSpace } from "../shared/characters.js";
import { replaceFindings } from "../shared/findings.js";
import { MessageChanger } from "../shared/message-texts.js";

const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const LENGTH = 7;
/** A placeholder. Models may omit the brackets or change the case. */
const PLACEHOLDER = /\[?\b([A-Z]{2,24}_[A-Z2-9]{7})\b\]?/gi;
/**
 * Returns an expression for a possible beginning of a placeholder at the end of a text. `prefixes`
 * are those of the placeholders.
 */
function placeholderStart(prefixes: Iterable<string>): RegExp {
  const names = [...prefixes].flatMap((prefix) => [
    ...Array.from(prefix, (_, end) => prefix.slice(0, end)).slice(1),
    `${prefix}[A-Z2-9]{0,${LENGTH}}`,
  ]);
  return new RegExp(`(?:\\[|\\[?(?<![A-Z])(?:${names.join("|")}))$`, "i");
}

/** The placeholders of the personal data of one run, and of the runs that joined it. */
export class Placeholders {
  readonly #byValue = new Map<string, string>();
  readonly #values = new Map<string, string>();
  readonly #prefixes = new Set<string>();
  /** The codes of the first letters of the prefixes, in lower case. */
  readonly #initials = new Set<number>();
  #beginning = placeholderStart([]);
  readonly messages: MessageChanger;

  constructor(
    readonly key: string,
    detect: (text: string) => readonly Finding[],
    noteMasked: (findings: readonly Finding[]) => void,
  ) {
    this.messages = new MessageChanger((text) => {
      const findings = detect(text);
      if (findings.length === 0) return text;
      noteMasked(findings);
      return this.mask(text, findings);
    });
  }

  mask(text: string, findings: readonly Finding[]): string {
    return replaceFindings(text, findings, (value, { kind }) => this.#placeholderOf(value, kind));
  }

  /** Returns the text with each placeholder replaced by its value. */
  restore(text: string): string {
    if (this.#values.size === 0 || !text.includes("_")) return text;
    return text.replace(
      PLACEHOLDER,
      (all, name: string) => this.#values.get(name.toUpperCase()) ?? all,
    );
  }

  /** Returns the index from which the text could be the beginning of a placeholder. */
  holdFrom(text: string): number {
    if (this.#values.size === 0 || !this.#mayBegin(text)) return text.length;
    return this.#beginning.exec(text)?.index ?? text.length;
  }

  /**
   * Returns whether the end of a text may begin a placeholder. Most words begin with another
   * letter.
   */
  #mayBegin(text: string): boolean {
    let at = text.length;
    while (at > 0 && isLetter(text.charCodeAt(at - 1))) at--;
    const isBehindSign = at > 0 && !isSpace(text.charCodeAt(at - 1));
    return isBehindSign || (at < text.length && this.#initials.has(text.charCodeAt(at) | 32));
  }

  /**
   * Returns the placeholder of a value. It depends only on key and value, and is therefore the same
   * in a resumed run and in parallel tasks.
   */
  #placeholderOf(value: string, kind: string): string {
    const known = this.#byValue.get(value);
    if (known !== undefined) return known;
    const bytes = createHmac("sha256", this.key).update(value).digest();
    const prefix = `${kind.replace(/[^a-z]/gi, "").toUpperCase()}_`;
    let code = "";
    for (let index = 0; index < LENGTH; index++)
      code += ALPHABET[(bytes[index] ?? 0) % ALPHABET.length];
    const placeholder = `[${prefix}${code}]`;
    this.#byValue.set(value, placeholder);
    this.#values.set(`${prefix}${code}`, value);
    if (!this.#prefixes.has(prefix)) this.#beginning = placeholderStart(this.#prefixes.add(prefix));
    this.#initials.add(prefix.charCodeAt(0) | 32);
    return placeholder;
  }
}

/** Returns the outermost run that this run belongs to. Joined runs share placeholders. */
export function outermostRun(run: HookRun): HookRun {
  let outermost = run;
  while (outermost.parent !== undefined) outermost = outermost.parent;
  return outermost;
}
