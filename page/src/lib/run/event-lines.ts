import type { LogEntry } from "../../../../src/contracts/run-store.js";

/** Fields with separate columns. */
const COLUMNS = new Set(["n", "at", "type", "taskId"]);

/** Returns the other fields of an entry in one line, short texts first. */
export function entryLine(entry: LogEntry, longest = 240): string {
  const parts: string[] = [];
  let length = 0;
  for (const [name, value] of Object.entries(entry)) {
    if (COLUMNS.has(name) || value === undefined || value === "") continue;
    const part = `${name}: ${valueText(value)}`;
    parts.push(part);
    length += part.length;
    if (length > longest) break;
  }
  const line = parts.join("  ");
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}

function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns the number of entries of each type, the most frequent type first. */
export function typesOf(
  entries: readonly LogEntry[],
): readonly { readonly type: string; readonly count: number }[] {
  const counts = new Map<string, number>();
  for (const { type } of entries) counts.set(type, (counts.get(type) ?? 0) + 1);
  return Array.from(counts, ([type, count]) => ({ type, count })).sort(
    (a, b) => b.count - a.count || a.type.localeCompare(b.type),
  );
}

/**
 * Returns the entries of the selected types whose line or task contains a text. Ignores case. If no
 * type is selected, all types match.
 */
export function filtered(
  entries: readonly LogEntry[],
  wanted: {
    readonly types: ReadonlySet<string>;
    readonly text: string;
    readonly taskId?: string | undefined;
  },
): readonly LogEntry[] {
  const { types, taskId } = wanted;
  const text = wanted.text.trim().toLowerCase();
  if (types.size === 0 && text === "" && taskId === undefined) return entries;
  return entries.filter(
    (entry) =>
      (types.size === 0 || types.has(entry.type)) &&
      (taskId === undefined || entry.taskId === taskId) &&
      (text === "" || JSON.stringify(entry).toLowerCase().includes(text)),
  );
}
