/** A text, and the name that cites it. */
export interface Source {
  readonly name: string;
  readonly text: string;
}

/** Words in quotation marks, followed by text in parentheses. */
export interface Quotation {
  readonly text: string;
  readonly source: string | undefined;
}

const QUOTATION = /(?:"([^"]+)"|“([^”]+)”)(?:\s*\(([^()]+)\))?/g;

/** Returns the quotations in a text, within each paragraph: "..." (source). */
export function quotationsIn(text: string): readonly Quotation[] {
  return text
    .split(/\n\s*\n/)
    .flatMap((paragraph) => [...paragraph.matchAll(QUOTATION)])
    .map(([, straight, curly, source]) => ({
      text: straight ?? curly ?? "",
      source: source?.trim(),
    }));
}

/** Ignores line breaks, Markdown emphasis and the shape of apostrophes. Words must be equal. */
function normalised(text: string): string {
  return text.replace(/[*_`]/g, "").replace(/[‘’]/g, "'").replace(/\s+/g, " ").trim();
}

/**
 * Returns one line for each quotation that does not occur in its source. If a quotation names no
 * known source, all sources are searched.
 */
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

/**
 * Returns the problems of a briefing: each quotation that is not in its source, or the absence of
 * quotations. Returns an empty list if there are none.
 */
export function problemsOf(briefing: string, sources: readonly Source[]): readonly string[] {
  const quotations = quotationsIn(briefing);
  return quotations.length === 0
    ? ["the briefing quotes nothing"]
    : misquotations(quotations, sources);
}

const ITEM = /^- (?:"[^"]+"|“[^”]+”) \(([^()]+)\)$/;

/**
 * Groups a briefing of quotations under the titles of their sources. Returns `undefined` if the
 * briefing has other text.
 */
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
