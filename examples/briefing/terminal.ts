import { stripVTControlCharacters } from "node:util";
import { AgentEnsembleError } from "agentensemble";

/** Documents, file names and models may say what they like, but not to the controls of a terminal. */
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

/** What failed, why, and the advice that goes with it; with `stacks` everything there is. */
export function explain(error: unknown, stacks: boolean): string {
  const chain = chainOf(error);
  if (chain.length === 0) return printable(String(error));
  if (stacks)
    return printable(chain.map(({ stack, message }) => stack ?? message).join("\ncaused by "));
  const ours = chain.filter((link) => AgentEnsembleError.isInstance(link));
  const [what = ""] = chain.map(({ message }) => message);
  // A hint that repeats a message, and a reason that the first message holds, say nothing new.
  const hint = ours.map((link) => link.hint ?? "").findLast((text) => text !== "");
  const why = hint ?? ours.at(-1)?.message ?? "";
  return printable(what.includes(why) ? what : `${what}\n${why}`);
}

/** The start of a text that fits into `rows` rows of `columns` columns, and the number of lines that are left out. */
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
  while (count < lines.length && lines[count - 1]?.startsWith("#")) count--; // a heading alone
  return { start: lines.slice(0, count).join("\n"), left: lines.length - count };
}
