import type { Detector, Finding } from "./findings.js";

/** A text as its reader decodes it, and the position of each of its characters in the source. */
export interface DecodedText {
  readonly text: string;
  readonly places: readonly number[];
}

/** Replaces each match by its character. The match has the position of its first character. */
export function decodedText(
  source: string,
  escapes: RegExp,
  decode: (match: RegExpExecArray) => string,
): DecodedText {
  let text = "";
  const places: number[] = [];
  const add = (piece: string, placeOf: (at: number) => number): void => {
    for (let at = 0; at < piece.length; at++) places.push(placeOf(at));
    text += piece;
  };
  let end = 0;
  for (const match of source.matchAll(escapes)) {
    const from = end;
    add(source.slice(from, match.index), (at) => from + at);
    add(decode(match), () => match.index);
    end = match.index + match[0].length;
  }
  add(source.slice(end), (at) => end + at);
  places.push(source.length);
  return { text, places };
}

/** Returns the findings in a decoded text, with their positions in the source. */
export function findingsIn(detect: Detector, { text, places }: DecodedText): readonly Finding[] {
  const last = places.at(-1) ?? 0;
  return detect(text).map(({ kind, start, end }) => ({
    kind,
    start: places[start] ?? last,
    end: places[end] ?? last,
  }));
}

const JSON_ESCAPES = /\\(?:u([\da-fA-F]{4})|([nrtbf"\\/]))/g;
const WHITE: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: " ", f: " " };

/**
 * Decodes the escapes of JSON strings. Returns `undefined` for a text without them. In the source,
 * a word after `\\n` begins with the letter of the escape.
 */
export function decodedJson(source: string): DecodedText | undefined {
  if (source.search(JSON_ESCAPES) < 0) return undefined;
  return decodedText(source, JSON_ESCAPES, ([, code, character = ""]) =>
    code === undefined
      ? (WHITE[character] ?? character)
      : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Returns a detector that reads a text both as it is and with the escapes of JSON decoded. */
export function readingEscapes(detect: Detector): Detector {
  return (text) => {
    const decoded = decodedJson(text);
    return decoded === undefined ? detect(text) : [...detect(text), ...findingsIn(detect, decoded)];
  };
}
