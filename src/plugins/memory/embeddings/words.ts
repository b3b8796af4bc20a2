// Words that say nothing of the subject. A longer list loses more than it gains: "not" and "before" do carry meaning.
const STOP_WORDS = new Set(
  (
    "a an and are as at be been being but by can could did do does for from had has have he her here him his how i if in into is it its " +
    "me my of on or our ours she should so some such than that the their theirs them then there these they this those to too us was we were " +
    "what when where which who whom whose why will with would you your yours"
  ).split(" "),
);

// Scripts that put no space between words.
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** English endings, longest first, with what takes their place; the first that leaves three letters is cut. */
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

/** The word without its English ending: rough, and the same for all forms of most words. */
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

/** Pairs of neighbouring characters: as near as one comes to words where nothing parts them. */
function pairs(run: string): readonly string[] {
  const characters = [...run];
  return characters.length < 2
    ? characters
    : characters.slice(1).map((character, i) => `${characters[i] ?? ""}${character}`);
}

/**
 * What a text is about, as stems in its order: without stop words, unless it has no others; without words, whatever characters it has.
 * Only a blank text has none.
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
