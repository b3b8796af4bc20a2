/** A text and the name under which it is cited. */
export interface Source {
  readonly name: string;
  readonly text: string;
}

/** Words between quotation marks, and what stands in parentheses behind them. */
export interface Quotation {
  readonly text: string;
  readonly source: string | undefined;
}

const QUOTATION = /(?:"([^"]+)"|“([^”]+)”)(?:\s*\(([^()]+)\))?/g;

/** The quotations in a text, within each of its paragraphs: "..." (source). */
export function quotationsIn(text: string): readonly Quotation[] {
  return text
    .split(/\n\s*\n/)
    .flatMap((paragraph) => [...paragraph.matchAll(QUOTATION)])
    .map(([, straight, curly, source]) => ({
      text: straight ?? curly ?? "",
      source: source?.trim(),
    }));
}

/** Line breaks, Markdown's emphasis and the shape of an apostrophe may differ; no word may. */
function normalised(text: string): string {
  return text.replace(/[*_`]/g, "").replace(/[‘’]/g, "'").replace(/\s+/g, " ").trim();
}

/** One line for each quotation that does not stand in its source, or in any source where it names none that is known. */
export function misquotations(
  quotations: readonly Quotation[],
  sources: readonly Source[],
): readonly string[] {
  const texts = new Map(sources.map(({ name, text }) => [name, normalised(text)]));
  return quotations.flatMap(({ text, source }) => {
    const named = source === undefined ? undefined : texts.get(source);
    const candidates = named === undefined ? [...texts.values()] : [named];
    const wanted = normalised(text);
    if (wanted !== "" && candidates.some((candidate) => candidate.includes(wanted))) return [];
    return [`"${text}" does not stand in ${named === undefined ? "any source" : (source ?? "")}`];
  });
}

/** What is wrong with a briefing: every quotation that is not in its source; or that there is none. Empty when all is well. */
export function problemsOf(briefing: string, sources: readonly Source[]): readonly string[] {
  const quotations = quotationsIn(briefing);
  return quotations.length === 0
    ? ["the briefing quotes nothing"]
    : misquotations(quotations, sources);
}

const ITEM = /^- (?:"[^"]+"|“[^”]+”) \(([^()]+)\)$/;

/** Groups a briefing that consists of quotations under the titles of their sources. Returns `undefined` for one that has text of its own. */
export function grouped(briefing: string, titles: ReadonlyMap<string, string>): string | undefined {
  const groups = new Map<string, string[]>();
  for (const line of briefing.split("\n").filter((text) => text.trim() !== "")) {
    const source = ITEM.exec(line)?.[1];
    if (source === undefined) return undefined;
    groups.set(source, [...(groups.get(source) ?? []), line]);
  }
  return [...groups]
    .map(([source, lines]) => `## ${titles.get(source) ?? source}\n\n${lines.join("\n")}`)
    .join("\n\n");
}
