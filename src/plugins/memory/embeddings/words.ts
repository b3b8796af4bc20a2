// Words without information about the subject. A longer list would lose precision: "not" and
// "before" carry meaning.
const STOP_WORDS = new Set(
  (
    "a an and are as at be been being but by can could did do does for from had has have he her here him his how i if in into is it its " +
    "me my of on or our ours she should so some such than that the their theirs them then there these they this those to too us was we were " +
    "what when where which who whom whose why will with would you your yours"
  ).split(" "),
);

// Scripts without spaces between words.
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/**
 * English endings, longest first, with their replacements. The first ending that leaves three
 * letters is removed.
 */
const ENDINGS: readonly (readonly [ending: string, instead: string])[] = [
  ["ational", "ate"],
  ["ization", "ize"],
  ["fulness", "ful"],
  ["iness", "y"],
  ["ations", "ate"],
  ["ation", "ate"],
  ["ments", "ment"],
  ["ingly", ""],
  ["edly", ""],
  ["ness", ""],
  ["ings", ""],
  ["iest", "y"],
  ["ally", "al"],
  ["ies", "y"],
  ["ied", "y"],
  ["ing", ""],
  ["ers", ""],
  ["est", ""],
  ["sses", "ss"],
  ["xes", "x"],
  ["ches", "ch"],
  ["shes", "sh"],
  ["ed", ""],
  ["er", ""],
  ["ly", ""],
];

/**
 * Returns the word without its English ending. The result is approximate, but equal for all forms
 * of most words.
 */
export function stem(word: string): string {
  let cut = word;
  for (const [ending, instead] of ENDINGS) {
    if (cut.length - ending.length < 3 || !cut.endsWith(ending)) continue;
    cut = cut.slice(0, -ending.length) + instead;
    break;
  }
  if (cut.length > 3 && cut.endsWith("s") && !/(?:ss|us|is)$/.test(cut)) cut = cut.slice(0, -1);
  if (cut.length > 3 && cut.endsWith("e")) cut = cut.slice(0, -1);
  return /([bdgklmnprt])\1$/.test(cut) ? cut.slice(0, -1) : cut;
}

/** Returns pairs of adjacent characters, as substitutes for words in scripts without spaces. */
function pairs(run: string): readonly string[] {
  const characters = [...run];
  return characters.length < 2
    ? characters
    : characters.slice(1).map((character, i) => `${characters[i] ?? ""}${character}`);
}

/**
 * Returns the subject of a text as stems in order. Keeps stop words only if there are no other
 * words. Returns the text's characters if there are no words. Only a blank text has none.
 */
export function stemsOf(text: string): readonly string[] {
  const plain = text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/['’]s?\b/g, "");
  const words = (plain.match(/[\p{L}\p{N}]+/gu) ?? []).flatMap((word) =>
    UNSPACED.test(word) ? pairs(word) : [word],
  );
  if (words.length === 0) return plain.match(/\S/gu) ?? [];
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return (telling.length > 0 ? telling : words).map(stem);
}
