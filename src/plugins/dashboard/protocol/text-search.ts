import type { LogEntry } from "../../../contracts/run-store.js";
import type { SearchBody, SearchHit, SearchPlace } from "./http-bodies.js";
import { JsonObject } from "./json-object.js";

/** Maximum number of hits of one answer. */
export const MAX_HITS = 200;
/** Number of characters on each side of the match in an excerpt. */
const AROUND = 60;

/** A text of an entry, and its kind. */
type PlacedText = readonly [where: SearchPlace, text: string | undefined];
type TextsOfEntry = (entry: JsonObject) => readonly PlacedText[];

const argumentTexts: TextsOfEntry = (entry) => [["arguments", entry.optionalText("toolArguments")]];

/**
 * Returns the texts of entries, by type. Arguments of a call that has ended are those of its start.
 */
const TEXTS: Readonly<Record<string, TextsOfEntry | undefined>> = {
  task_started: (entry) => [
    ["name", entry.optionalText("taskId")],
    ["task", entry.optionalText("taskDescription")],
  ],
  task_input: (entry) => [
    ["system-prompt", entry.optionalText("systemPrompt")],
    ["user-prompt", entry.optionalText("userPrompt")],
  ],
  llm_iteration_completed: (entry) => [["answer", entry.optionalText("responseText")]],
  reasoning_received: (entry) => [["reasoning", entry.optionalText("reasoning")]],
  tool_started: argumentTexts,
  tool_called: (entry) => [["result", entry.optionalText("toolResult")]],
  task_completed: (entry) => [["output", entry.object("taskOutput").optionalText("raw")]],
  review_requested: (entry) => [
    ["review", entry.optionalText("prompt")],
    ["review", entry.optionalText("taskOutput")],
  ],
  review_resolved: (entry) => [["review", entry.optionalText("comment")]],
  task_failed: (entry) => [["error", entry.object("cause").optionalText("message")]],
  run_failed: (entry) => [["error", entry.optionalText("message")]],
  guardrail_refused: (entry) => [["error", entry.optionalText("message")]],
  usage_recorded: (entry) => [["error", entry.optionalText("error")]],
  run_warning: (entry) => [["error", entry.optionalText("message")]],
};

/** Finds a text in entries of runs, with one hit per text that contains it. Ignores case. */
export class TextSearch {
  readonly #wanted: RegExp;
  readonly #hits: SearchHit[] = [];
  #isCut = false;

  constructor(text: string) {
    this.#wanted = new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "iu");
  }

  get hits(): number {
    return this.#hits.length;
  }

  /**
   * Adds the hits of an entry. Returns whether the entry had a hit beyond `most`, which is omitted.
   */
  isFull(runId: string, entry: LogEntry, most = MAX_HITS): boolean {
    const { n, type, taskId } = entry;
    for (const [where, found = ""] of TEXTS[type]?.(new JsonObject(entry)) ?? []) {
      const match = this.#wanted.exec(found);
      if (match === null) continue;
      if (this.#hits.length >= most) return (this.#isCut = true);
      const place = { runId, ...(taskId !== undefined && { taskId }), n, where };
      this.#hits.push({ ...place, ...excerptAt(found, match.index, match[0].length) });
    }
    return false;
  }

  /** Returns the result. `isCut`: whether entries were omitted. */
  body(isCut = this.#isCut): SearchBody {
    return { hits: this.#hits, more: isCut || this.#isCut };
  }
}

/**
 * Returns the text around a position. Each white space character becomes a blank, so that positions
 * stay the same.
 */
function excerptAt(
  text: string,
  at: number,
  length: number,
): Pick<SearchHit, "excerpt" | "from" | "to"> {
  const start = Math.max(0, at - AROUND);
  const end = Math.min(text.length, at + length + AROUND);
  const [before, after] = [start > 0 ? "…" : "", end < text.length ? "…" : ""];
  const from = before.length + at - start;
  const excerpt = `${before}${text.slice(start, end).replace(/\s/g, " ")}${after}`;
  return { excerpt, from, to: from + length };
}
