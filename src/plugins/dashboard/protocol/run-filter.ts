import type { RunQuery, RunSummary } from "../../../contracts/run-store.js";

/** A filter as a query, without the fields of a page. */
export type FilterQuery = Omit<RunQuery, "before" | "limit">;

/** An invalid word of a filter, and the reason. */
export interface FilterProblem {
  readonly word: string;
  readonly message: string;
}

/** A parsed filter. Words with problems are not in the query. */
export interface ParsedRunFilter {
  readonly query: FilterQuery;
  readonly problems: readonly FilterProblem[];
}

export const RUN_STATES: readonly RunSummary["state"][] = [
  "running",
  "waiting",
  "done",
  "failed",
  "stopped",
  "interrupted",
];

/** A word of a filter. `bare` is the length of its beginning before the first quotation mark. */
interface FilterWord {
  readonly text: string;
  readonly bare: number;
  readonly given: string;
}

const FIELD = /^(state|ensemble|tag|from|to):/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Parses the filter of a run list: `state:failed tag:customer=acme heat pump`. Fields are `state`,
 * `ensemble`, `tag` (any number), `from` and `to`. `from` and `to` are ISO dates or instants. A
 * date as `to` includes its day, in UTC. All other words are one text, separated by single spaces.
 * Quotation marks preserve spaces, and make a word with a colon a text: `ensemble:"heat pumps"
 * "state:failed"`. Within them, a backslash escapes the next character.
 */
export function parseRunFilter(filter: string): ParsedRunFilter {
  const query: Record<string, string> = {};
  const tags: [string, string][] = [];
  const problems: FilterProblem[] = [];
  const texts: string[] = [];
  for (const word of wordsOfFilter(filter)) {
    const field = FIELD.exec(word.text.slice(0, word.bare))?.[1];
    if (field === undefined) {
      if (word.text !== "") texts.push(word.text);
      continue;
    }
    const value = word.text.slice(field.length + 1);
    const problem =
      field === "tag"
        ? tagProblem(value, tags)
        : query[field] === undefined
          ? valueProblem(field, value)
          : `${field}: stands twice`;
    if (problem !== undefined) problems.push({ word: word.given, message: problem });
    else if (field === "tag") tags.push(splitTag(value));
    else query[field] = field === "from" || field === "to" ? instantFor(field, value) : value;
  }
  if (texts.length > 0) query["text"] = texts.join(" ");
  return {
    query: { ...query, ...(tags.length > 0 && { tags: Object.fromEntries(tags) }) },
    problems,
  };
}

/** Returns a query as a filter. `parseRunFilter` parses the filter to the same query. */
export function formatRunFilter({
  state,
  ensemble,
  from,
  to,
  tags = {},
  text,
}: FilterQuery): string {
  const fields = [
    ...Object.entries({ state, ensemble, from, to }).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}:${quotedWord(value)}`],
    ),
    ...Object.entries(tags).map(([name, value]) => `tag:${quotedWord(`${name}=${value}`)}`),
  ];
  const isPlain = text !== undefined && text.split(" ").every((word) => isPlainText(word));
  const words = text === undefined ? [] : isPlain ? [text] : [quotedFilter(text)];
  return [...fields, ...words].join(" ");
}

function isPlainText(word: string): boolean {
  return /^[^\s"]+$/.test(word) && !FIELD.test(word);
}

function quotedWord(value: string): string {
  return /^[^\s"]+$/.test(value) ? value : quotedFilter(value);
}

function quotedFilter(value: string): string {
  return `"${value.replace(/["\\]/g, "\\$&")}"`;
}

function wordsOfFilter(filter: string): readonly FilterWord[] {
  const words: FilterWord[] = [];
  for (const [given] of filter.matchAll(/(?:[^\s"]|"(?:[^"\\]|\\.)*"?)+/gs)) {
    const quote = given.indexOf('"');
    const text = given.replace(/"((?:[^"\\]|\\.)*)"?/gs, (_, inside: string) =>
      inside.replace(/\\(.)/gs, "$1"),
    );
    words.push({ text, bare: quote === -1 ? text.length : quote, given });
  }
  return words;
}

function valueProblem(field: string, value: string): string | undefined {
  if (value === "") return `${field}: needs a value`;
  if (field === "state" && !(RUN_STATES as readonly string[]).includes(value))
    return `state: must be one of ${RUN_STATES.join(", ")}`;
  if ((field === "from" || field === "to") && Number.isNaN(Date.parse(value)))
    return `${field}: must be a date such as 2026-01-31, or an ISO instant`;
  return undefined;
}

function tagProblem(
  value: string,
  tags: readonly (readonly [string, string])[],
): string | undefined {
  const [name] = splitTag(value);
  if (!value.includes("=") || name === "")
    return "tag: needs a name and a value: tag:customer=acme";
  return tags.some(([other]) => other === name) ? `tag:${name} stands twice` : undefined;
}

function splitTag(value: string): [name: string, value: string] {
  const at = value.indexOf("=");
  return [value.slice(0, Math.max(0, at)), value.slice(at + 1)];
}

function instantFor(field: "from" | "to", value: string): string {
  return field === "to" && DATE.test(value)
    ? `${value}T23:59:59.999Z`
    : new Date(Date.parse(value)).toISOString();
}
