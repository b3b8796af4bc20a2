import { stripVTControlCharacters } from "node:util";
import { AgentEnsembleError } from "agentensemble";

/** Removes control characters of a terminal from documents, file names and answers of models. */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(/[^\P{Cc}\n\t]/gu, "");
}

/** `1 document`, `2 documents`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function chainOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let next = error; next instanceof Error && !chain.includes(next); next = next.cause)
    chain.push(next);
  return chain;
}

/** Returns the failure, its causes and its hints. With `stacks`, also returns the stack traces. */
export function explain(error: unknown, stacks: boolean): string {
  const chain = chainOf(error);
  if (chain.length === 0) return printable(String(error));
  if (stacks)
    return printable(chain.map(({ stack, message }) => stack ?? message).join("\ncaused by "));
  const ours = chain.filter((link) => AgentEnsembleError.isInstance(link));
  const [what = ""] = chain.map(({ message }) => message);
  // Omits a hint or a reason that repeats the message.
  const hint = ours.map((link) => link.hint ?? "").findLast((text) => text !== "");
  const why = hint ?? ours.at(-1)?.message ?? "";
  return printable(what.includes(why) ? what : `${what}\n${why}`);
}

/**
 * Returns the beginning of a text that fits into `rows` rows of `columns` columns, and the number
 * of omitted lines.
 */
export function startOf(
  text: string,
  { rows, columns }: { readonly rows: number; readonly columns: number },
): { readonly start: string; readonly left: number } {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  let used = 0;
  const fitting = lines.findIndex((line) => {
    used += Math.max(1, Math.ceil(line.length / columns));
    return used > rows;
  });
  let count = fitting < 0 ? lines.length : fitting;
  // No heading at the end.
  while (count < lines.length && lines[count - 1]?.startsWith("#")) count--;
  return { start: lines.slice(0, count).join("\n"), left: lines.length - count };
}
