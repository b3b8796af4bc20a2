import type { LanguageTools } from "./language-tools.js";
import type { Pacer } from "./pacer.js";
import type { Passage } from "./passages.js";

/** A piece of the source that may be quoted: it stands there letter by letter, in one line. */
export interface Quote {
  readonly text: string;
  readonly source: string | undefined;
  readonly terms: ReadonlySet<string>;
  /** A whole sentence of ordinary length; others are only taken when there are too few of these. */
  readonly good: boolean;
  /** Counted from 0 within its passage. */
  readonly position: number;
}

const MAX_PIECE = 4_000;
const MAX_WORD = 300;
const LONG_WORD = /\S{301}/;
const LEFTOVER_EMPHASIS = /^(?:\*{1,3}|_{1,3})\s+/;
const MIN_WORDS = 4;
const MAX_GOOD_LENGTH = 400;
const SENTENCE_END = /[.!?\u2026\u3002\uff01\uff1f]["'\u201d\u2019)\]*_]*$/;

/** Where to cut the start of a line that is too long for one piece of work: after a sentence or a word, where there is one. */
function cutAt(head: string, end: number): number {
  const stop =
    Math.max(
      ...[". ", "? ", "! "].map((mark) => head.lastIndexOf(mark, end - 2)),
      head.lastIndexOf("\u3002", end - 1),
    ) + 1;
  if (stop > 0) return stop;
  const space = head.lastIndexOf(" ", end - 1);
  if (space > 0) return space;
  return /[\uD800-\uDBFF]/.test(head.charAt(end - 1)) ? end - 1 : end; // never within a surrogate pair
}

/** Cuts a line into pieces of bounded length; very long words are cut too, since the analyser's time grows with their square. */
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

/** Groups lines so that no piece of work is long. */
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

/** The part of `text` that lies in one line of the source: all of it, or the longest where it runs over line ends. */
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
  const text = lines.join(" "); // a sentence may go on in the next line; where the lines end is remembered
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

/** A quote of a quote is the same sentence; it is not divided again. */
function requote(passage: Passage, tools: LanguageTools): Quote {
  const text = passage.lines[0] ?? "";
  const terms = tools.sentences(text).flatMap((sentence) => sentence.terms);
  return { text, source: passage.source, terms: new Set(terms), good: true, position: 0 };
}

/** Adds everything that can be quoted from `passages` to `quotes`, in their order. */
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
