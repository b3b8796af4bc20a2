import type { Pacer } from "./pacer.js";
import type { SourceBlock } from "./prompt-sources.js";
import { isSourceName } from "./source-names.js";
import { parseJson } from "../../../util/json/parse-json.js";

/** Adjacent lines of running text, trimmed. */
export interface Passage {
  readonly lines: readonly string[];
  /** The current file marker, or else the nearest heading, or else the label of the block. */
  readonly source: string | undefined;
  /** A sentence quoted before, or the text of a list item. Used unchanged if it is short. */
  readonly quoted: boolean;
}

const LONG_LINE = 4_000;
const LINES_PER_SLICE = 200;
const LINE_END = /\r\n|[\n\r\u2028\u2029]/;
const FENCE = /^(`{3,}|~{3,})/;
const HEADING = /^#{1,6}\s+(.+?)\s*#*$/;
const UNDERLINE = /^(?:={2,}|-{2,})$/;
const RULE = /^(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const LIST_MARKER = /^(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?/;
const LINK_ONLY = /^(?:!?\[[^\]]*\]\([^)]*\)|\[[^\]]+\]:\s*\S+|<?https?:\/\/\S+>?)[.,;]?$/;
/** Matches a link in lines such as `Next: [concepts](concepts.md), ...`. */
const LINK = /!?\[([^\]]*)\]\([^)]*\)/g;
const NAVIGATION = /^(?:[*_]{2})?\p{L}[\p{L} ]{0,30}:(?:[*_]{2})?\s*!?\[[^\]]*\]\(/u;
/**
 * Matches `Version: 1.2` or `**Resilience**: retries, fallbacks`, but not a label before a
 * sentence.
 */
const LABEL =
  /^(?:[\p{L}\p{N}][\p{L}\p{N} -]{0,30}:\s(?!.*[.!?]$).{1,60}|(?:\p{L}+ ){0,3}(?:[*_]{2})[^*_]{1,60}(?::[*_]{2}|[*_]{2}\s*:)\s*(?!\s)(?![\p{Lu}\p{N}`*_[(].*[.!?]$).*)$/u;
const QUOTATION = /^"(.+)"(?: \((.+)\))?$/;
const FILE_MARKERS: readonly RegExp[] = [
  /^(?:={3,}|-{3,})\s*(?:(?:file|document|path|source)\s*:\s*)?([^=\s-](?:[^=]*[^=\s])?)\s*(?:={3,}|-{3,})$/i,
  /^(?:#{1,6}\s+)?(?:file|document|path|source)\s*:\s*[`"']?([^\s`"']*[./][^\s`"']*)[`"']?$/i,
  /^#{1,6}\s+[`"']?((?:[\w.-]+\/)*[\w-]+\.[A-Za-z][A-Za-z0-9]{0,4})[`"']?$/,
  /^<(?:file|document|doc|source)\b[^>]*\b(?:path|name|src|source|title|file)="([^"]+)"[^>]*>$/i,
];

function fileMarker(line: string): string | undefined {
  if (line.length > 300) return undefined;
  for (const marker of FILE_MARKERS) {
    const name = marker.exec(line)?.[1]?.trim();
    if (name !== undefined && name !== "") return name;
  }
  return undefined;
}

function isTableRow(line: string): boolean {
  return line.startsWith("|") || line.split(" | ", 3).length > 2;
}

/** Returns whether a line refers to another place or names a value. Such a line is not quoted. */
function isSignpost(line: string): boolean {
  if (NAVIGATION.test(line) || LABEL.test(line)) return true;
  let linked = 0;
  const around = line.replace(LINK, (_, text: string) => {
    linked += text.length;
    return "";
  });
  return linked > around.replace(/[^\p{L}\p{N}]/gu, "").length;
}

function isMarkup(line: string): boolean {
  return (
    line.startsWith("<!--") ||
    (line.startsWith("<") && line.endsWith(">")) ||
    RULE.test(line) ||
    LINK_ONLY.test(line) ||
    isTableRow(line)
  );
}

/**
 * Reads a text line by line and collects its passages. Skips headings, tables, code, rules, front
 * matter, labels with a value, and lines that refer to another place.
 */
class PassageReader {
  readonly #passages: Passage[] = [];
  readonly #label: string | undefined;
  #lines: string[] = [];
  #file: string | undefined;
  #heading: string | undefined;
  #fence: string | undefined;

  constructor(label: string | undefined) {
    this.#label = label;
  }

  async read(text: string, pacer: Pacer): Promise<readonly Passage[]> {
    const lines = withoutFrontMatter(text.split(LINE_END));
    for (const [index, line] of lines.entries()) {
      this.#line(line.trim());
      if (index % LINES_PER_SLICE === 0) await pacer.pause();
    }
    this.#close();
    return this.#passages;
  }

  #line(line: string): void {
    if (this.#inCode(line)) return;
    if (line === "") return this.#close();
    if (line.length > LONG_LINE) return this.#text(line);
    const file = fileMarker(line);
    if (file !== undefined) return this.#structure(() => (this.#file = file));
    const heading = HEADING.exec(line)?.[1] ?? this.#underlined(line);
    if (heading !== undefined) return this.#structure(() => (this.#heading = heading));
    const unquoted = line.replace(/^(?:>\s?)+/, "");
    const item = unquoted.replace(LIST_MARKER, "");
    if (isMarkup(unquoted) || isMarkup(item) || isSignpost(item)) return this.#close();
    if (item === unquoted) return this.#text(item);
    this.#close();
    const quotation = QUOTATION.exec(item);
    if (quotation?.[1] === undefined) return this.#text(item);
    this.#passages.push({
      lines: [quotation[1]],
      source: quotation[2] ?? this.#source(),
      quoted: true,
    });
  }

  /** Returns the previous line if this line underlines it as a heading. */
  #underlined(line: string): string | undefined {
    return this.#lines.length === 1 && UNDERLINE.test(line) ? this.#lines.pop() : undefined;
  }

  #inCode(line: string): boolean {
    const fence = FENCE.exec(line)?.[1];
    if (this.#fence === undefined) {
      this.#fence = fence;
      if (fence !== undefined) this.#close();
      return fence !== undefined;
    }
    if (line === this.#fence) this.#fence = undefined;
    return true;
  }

  #structure(change: () => void): void {
    this.#close();
    change();
  }

  #text(line: string): void {
    if (line !== "") this.#lines.push(line);
  }

  #source(): string | undefined {
    return this.#file ?? this.#heading ?? this.#label;
  }

  #close(): void {
    if (this.#lines.length > 0)
      this.#passages.push({ lines: this.#lines, source: this.#source(), quoted: false });
    this.#lines = [];
  }
}

function withoutFrontMatter(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line.trim() !== "");
  if (lines[first]?.trim() !== "---") return lines;
  const end = lines.findIndex((line, index) => index > first && line.trim() === "---");
  const inside = end < 0 ? [] : lines.slice(first + 1, end);
  return inside.length > 0 && inside.every((line) => /^(?:[\w-]+:|\s|-\s|$)/.test(line))
    ? lines.slice(end + 1)
    : lines;
}

/** Parses a text that is a JSON object or list. Returns `undefined` for any other text. */
function documentOf(text: string): unknown {
  const trimmed = text.trim();
  return /^[[{]/.test(trimmed) ? parseJson(trimmed) : undefined;
}

/**
 * Returns the texts inside a JSON document, each with the source that its sibling properties name.
 */
function jsonBlocks(value: unknown, label: string | undefined): readonly SourceBlock[] {
  const blocks: SourceBlock[] = [];
  const pending: { readonly value: unknown; readonly label: string | undefined }[] = [
    { value, label },
  ];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value: current, label: inherited } = next;
    if (typeof current === "string") blocks.push({ text: current, label: inherited });
    if (typeof current !== "object" || current === null) continue;
    const entries: readonly (readonly [string, unknown])[] = Object.entries(current);
    const named = Array.isArray(current)
      ? undefined
      : entries.find(
          ([key, item]) => isSourceName(key) && typeof item === "string" && item !== "",
        )?.[1];
    const own = typeof named === "string" ? named : inherited;
    const texts = entries.filter(([key]) => Array.isArray(current) || !isSourceName(key));
    for (const [, item] of texts.reverse()) pending.push({ value: item, label: own });
  }
  return blocks;
}

/**
 * Returns the quotable passages of a source in order. For a JSON document the texts are its
 * strings.
 */
export async function passagesOf(block: SourceBlock, pacer: Pacer): Promise<readonly Passage[]> {
  const json = documentOf(block.text);
  const passages: Passage[] = [];
  for (const { text, label } of json === undefined ? [block] : jsonBlocks(json, block.label)) {
    for (const passage of await new PassageReader(label).read(text, pacer)) passages.push(passage);
  }
  return passages;
}
