import { diffLines, diffWordsWithSpace, type ChangeObject } from "diff";

/** A piece of a line: `same`, or different from the other text. */
export interface DiffPart {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
}

/** A line of a difference. A changed line occurs twice: in its old and in its new form. */
export interface DiffLine {
  readonly kind: DiffPart["kind"];
  readonly parts: readonly DiffPart[];
}

/** Texts with more words are compared only by lines, not by words. */
export const MOST_WORDS = 20_000;
/** Texts with more changes are shown one after the other. */
const MOST_EDITS = 5_000;

/** Returns the difference of two texts, line by line, with the changed words. */
export function differenceOf(before: string, after: string): readonly DiffLine[] {
  const byWords = countWords(before) + countWords(after) <= MOST_WORDS;
  const blocks: readonly ChangeObject<string>[] = diffLines(before, after, {
    maxEditLength: MOST_EDITS,
  }) ?? [
    { value: before, removed: true, added: false, count: 1 },
    { value: after, removed: false, added: true, count: 1 },
  ];
  const lines: DiffLine[] = [];
  for (let i = 0; i < blocks.length; i++) {
    const block = blocks[i];
    const next = blocks[i + 1];
    if (block === undefined) break;
    if (byWords && block.removed && next?.added === true) {
      lines.push(...changedLines(block.value, next.value));
      i++;
    } else lines.push(...linesOf([{ kind: kindOf(block), text: block.value }], kindOf(block)));
  }
  return lines;
}

/** Returns whether any line changed. */
export function isChanged(lines: readonly DiffLine[]): boolean {
  return lines.some(({ kind }) => kind !== "same");
}

function kindOf({ added, removed }: ChangeObject<string>): DiffPart["kind"] {
  return added ? "added" : removed ? "removed" : "same";
}

/**
 * Characters between two changes that separate them. Without such a character, both are one change.
 */
const WORD = /[\p{L}\p{N}\n]/u;

/**
 * Returns both texts as one text, with the changed words. Returns `undefined` for texts that are
 * compared only by lines.
 */
export function textWithChanges(before: string, after: string): readonly DiffPart[] | undefined {
  if (countWords(before) + countWords(after) > MOST_WORDS) return undefined;
  const parts: DiffPart[] = [];
  const change = { removed: "", added: "" };
  let gap = "";
  const end = (): void => {
    if (change.removed !== "") parts.push({ kind: "removed", text: change.removed });
    if (change.added !== "") parts.push({ kind: "added", text: change.added });
    if (gap !== "") parts.push({ kind: "same", text: gap });
    change.removed = change.added = gap = "";
  };
  const changes = wordChanges(before, after);
  if (changes === undefined) return undefined;
  for (const { kind, text } of changes) {
    if (kind !== "same") {
      change.removed += gap;
      change.added += gap;
      gap = "";
      change[kind] += text;
    } else if (change.removed + change.added !== "" && !WORD.test(text)) gap = text;
    else {
      end();
      parts.push({ kind, text });
    }
  }
  end();
  return parts;
}

function wordChanges(before: string, after: string): readonly DiffPart[] | undefined {
  const changes = diffWordsWithSpace(before, after, { maxEditLength: MOST_EDITS });
  return changes?.map((part) => ({ kind: kindOf(part), text: part.value }));
}

function changedLines(before: string, after: string): readonly DiffLine[] {
  const parts = wordChanges(before, after) ?? [
    { kind: "removed" as const, text: before },
    { kind: "added" as const, text: after },
  ];
  return [
    ...linesOf(
      parts.filter(({ kind }) => kind !== "added"),
      "removed",
    ),
    ...linesOf(
      parts.filter(({ kind }) => kind !== "removed"),
      "added",
    ),
  ];
}

/** Splits pieces of text into lines. */
function linesOf(parts: readonly DiffPart[], kind: DiffPart["kind"]): readonly DiffLine[] {
  const lines: DiffPart[][] = [[]];
  for (const part of parts)
    for (const [i, text] of part.text.split("\n").entries()) {
      if (i > 0) lines.push([]);
      if (text !== "") lines.at(-1)?.push({ kind: part.kind, text });
    }
  if (lines.at(-1)?.length === 0) lines.pop(); // after the last line break
  return lines.map((line) => ({ kind, parts: line }));
}

function countWords(text: string): number {
  let count = 0;
  let inWord = false;
  for (let i = 0; i < text.length; i++) {
    const isSpace = text.charCodeAt(i) <= 32;
    if (!isSpace && !inWord) count++;
    inWord = !isSpace;
  }
  return count;
}
