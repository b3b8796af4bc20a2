import type { LogEntry } from "../../../src/contracts/run-store.js";
import type { NoteTurn } from "./conversation-types.js";
import { counted, formatDuration } from "./format.js";

/** A note without the common fields of turns. */
type Note = Omit<NoteTurn, "kind" | "n" | "at">;

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
export const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0);

function note(look: Note["look"], title: string, text = "", end = ""): Note {
  return { look, title, text, end };
}

/** `undefined` for an entry without a line. */
type NoteMaker = (e: LogEntry) => Note | undefined;

const NOTES: { readonly [type: string]: NoteMaker | undefined } = {
  task_started: (e) => {
    const attempt = numberOf(e.attempt);
    return attempt > 1 ? note("waiting", `Attempt ${attempt} begins`) : undefined;
  },
  guardrail_refused: (e) => {
    const left = numberOf(e.retriesLeft);
    const name = textOf(e.guardrailName);
    const message = textOf(e.message);
    return note(
      "failed",
      `Guardrail refused the ${e.kind === "INPUT" ? "task" : "answer"}`,
      name === "" ? message : `${name}: ${message}`,
      `attempt ${numberOf(e.attempt)}${left > 0 ? ` · ${counted(left, "more", "more")}` : ""}`,
    );
  },
  output_corrected: (e) =>
    note(
      "failed",
      "Does not fit the schema",
      Array.isArray(e.errors) ? e.errors.map(textOf).join("\n") : "",
      `correction ${numberOf(e.correction)} of ${numberOf(e.of)}`,
    ),
  iteration_limit_reached: (e) =>
    note(
      "failed",
      "More tool calls than allowed",
      `The agent may call tools ${numberOf(e.max)} times. It was asked for its answer.`,
      `request ${numberOf(e.stop)} of 3`,
    ),
  retry_scheduled: (e) =>
    note(
      "waiting",
      "The model is called again",
      textOf(e.reason),
      `in ${formatDuration(numberOf(e.delayMs))} · attempt ${numberOf(e.attempt)}`,
    ),
  rate_limited: (e) =>
    note("waiting", "Waits for a rate limit", "", `at least ${formatDuration(numberOf(e.waitMs))}`),
  budget_exceeded: (e) =>
    note(
      "failed",
      "Budget exceeded",
      `${textOf(e.limit)}: ${numberOf(e.used)} of ${numberOf(e.allowed)}`,
      textOf(e.action),
    ),
  call_in_doubt: (e) =>
    note(
      "failed",
      `It is unknown whether ${textOf(e.toolName)} took effect`,
      "An earlier execution began the call and recorded no result.",
    ),
  memory_read: (e) =>
    note(
      "info",
      `Read ${counted(numberOf(e.entries), "memory entry", "memory entries")}`,
      textOf(e.scope),
      formatDuration(numberOf(e.durationMs)),
    ),
  memory_written: (e) => note("info", "Wrote to memory", textOf(e.scope)),
  file_changed: (e) =>
    note(
      "info",
      `File ${textOf(e.changeType).toLowerCase()}`,
      textOf(e.filePath),
      `+${numberOf(e.linesAdded)} −${numberOf(e.linesRemoved)}`,
    ),
  task_reflected: () => note("info", "The task was reflected on"),
  run_warning: (e) => note("waiting", "Warning", textOf(e.message)),
  task_completed: (e) => note("done", "Completed", "", formatDuration(numberOf(e.durationMs))),
  task_failed: (e) => {
    // `cause` is the JSON of an error.
    const { message, code } = (e.cause ?? {}) as Readonly<Record<string, unknown>>;
    return note(
      "failed",
      "Failed",
      textOf(message) || textOf(e.reason),
      [textOf(code), formatDuration(numberOf(e.durationMs))]
        .filter((part) => part !== "")
        .join(" · "),
    );
  },
};

/**
 * Returns the note of an entry. Returns `undefined` for an entry that is another turn, or no turn.
 */
export function noteOf(entry: LogEntry): NoteTurn | undefined {
  const made = NOTES[entry.type]?.(entry);
  return made && { kind: "note", n: entry.n, at: entry.at, ...made };
}
