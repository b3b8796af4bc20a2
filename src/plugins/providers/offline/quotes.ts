import type { LanguageTools } from "./language-tools.js";
import type { Pacer } from "./pacer.js";
import type { Passage } from "./passages.js";

/** A quotable piece of the source, which occurs there unchanged in one line. */
export interface Quote {
  readonly text: string;
  readonly source: string | undefined;
  readonly terms: ReadonlySet<string>;
  /**
   * Whether it is a whole sentence of ordinary length. Other quotes are used only if there are too
   * few of these.
   */
  readonly good: boolean;
  /** Position within its passage, counted from 0. */
  readonly position: number;
}

const MAX_PIECE = 4_000;
const MAX_WORD = 300;
const LONG_WORD = /\S{301}/;
const LEFTOVER_EMPHASIS = /^(?:\*{1,3}|_{1,3})\s+/;
const MIN_WORDS = 4;
const MAX_GOOD_LENGTH = 400;
const SENTENCE_END = /[.!?\u2026\u3002\uff01\uff1f]["'\u201d\u2019)\]*_]*$/;

/**
 * Returns the position at which to split a line that is too long for one slice. Prefers the end of
 * a sentence or of a word.
 */
function cutAt(head: string, end: number): number {
  const stop =
    Math.max(
      ...[". ", "? ", "! "].map((mark) => head.lastIndexOf(mark, end - 2)),
      head.lastIndexOf("\u3002", end - 1),
    ) + 1;
  if (stop > 0) return stop;
  const space = head.lastIndexOf(" ", end - 1);
  if (space > 0) return space;
  // do not split a surrogate pair
  return /[\uD800-\uDBFF]/.test(head.charAt(end - 1)) ? end - 1 : end;
}

/**
 * Splits a line into pieces of limited length. Also splits very long words, because the analyser's
 * time grows with the square of their length.
 */
function* cutLine(line: string): Generator<string> {
  let rest = line;
  for (;;) {
    const head = rest.slice(0, MAX_PIECE);
    const longWord = LONG_WORD.exec(head);
    if (longWord === null && rest.length <= MAX_PIECE) break;
    const end = cutAt(head, longWord === null ? MAX_PIECE : longWord.index + MAX_WORD);
    yield rest.slice(0, end).trim();
    rest = rest.slice(end).trim();
  }
  yield rest;
}

/** Groups lines into slices of limited size. */
function* pieces(lines: readonly string[]): Generator<readonly string[]> {
  let group: string[] = [];
  let length = 0;
  for (const line of lines) {
    for (const part of cutLine(line)) {
      if (length + part.length > MAX_PIECE && group.length > 0) {
        yield group;
        [group, length] = [[], 0];
      }
      group.push(part);
      length += part.length + 1;
    }
  }
  if (group.length > 0) yield group;
}

/**
 * Returns the part of `text` within one line of the source. This is the whole text, or the longest
 * part if it crosses line ends.
 */
function withinOneLine(text: string, start: number, lineEnds: readonly number[]): string {
  const cuts = lineEnds
    .filter((end) => end > start && end < start + text.length)
    .map((end) => end - start);
  const parts = [0, ...cuts].map((from, index) =>
    text.slice(from, cuts[index] ?? text.length).trim(),
  );
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), "");
}

function quotesOfPiece(
  lines: readonly string[],
  passage: Passage,
  tools: LanguageTools,
  firstPosition: number,
): readonly Quote[] {
  // a sentence may continue in the next line, so the line ends are recorded
  const text = lines.join(" ");
  const lineEnds: number[] = [];
  lines.reduce(
    (offset, line) => (lineEnds.push(offset + line.length), offset + line.length + 1),
    0,
  );
  let cursor = 0;
  return tools.sentences(text).flatMap((sentence, index) => {
    const start = text.indexOf(sentence.text, cursor);
    if (start < 0) return [];
    cursor = start + sentence.text.length;
    const line = withinOneLine(sentence.text, start, lineEnds);
    const quote = line.replace(LEFTOVER_EMPHASIS, ""); // of `**Title.** Text`
    const whole =
      line === sentence.text &&
      quote.split(/\s+/, MIN_WORDS).length === MIN_WORDS &&
      quote.length <= MAX_GOOD_LENGTH;
    const good = whole && SENTENCE_END.test(quote) && !quote.includes('"');
    return [
      {
        text: quote,
        source: passage.source,
        terms: new Set(sentence.terms),
        good,
        position: firstPosition + index,
      },
    ];
  });
}

/** Returns a passage that is already a quote. It is one sentence and is not split again. */
function requote(passage: Passage, tools: LanguageTools): Quote {
  const text = passage.lines[0] ?? "";
  const terms = tools.sentences(text).flatMap((sentence) => sentence.terms);
  return { text, source: passage.source, terms: new Set(terms), good: true, position: 0 };
}

/** Adds all quotable pieces of `passages` to `quotes` in order. */
export async function collectQuotes(
  passages: readonly Passage[],
  tools: LanguageTools,
  pacer: Pacer,
  quotes: Map<string, Quote>,
): Promise<void> {
  const add = (quote: Quote): void => {
    if (/[\p{L}\p{N}]/u.test(quote.text) && !quotes.has(quote.text)) quotes.set(quote.text, quote);
  };
  for (const passage of passages) {
    let position = 0;
    for (const piece of passage.quoted ? [] : pieces(passage.lines)) {
      const found = quotesOfPiece(piece, passage, tools, position);
      found.forEach(add);
      position += found.length;
      await pacer.pause();
    }
    if (passage.quoted) add(requote(passage, tools));
    await pacer.pause();
  }
}
