import type { LogEntry } from "../../../../src/contracts/run-store.js";
import type { TaskState } from "../../../../src/plugins/dashboard/protocol/state-types.js";
import { outcomeWords } from "./outcome-words.js";

/** One link of a chain of causes. */
export interface Cause {
  readonly code?: string | undefined;
  readonly name: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** A problem, or an event that affected the course of a run. */
export interface Trouble {
  readonly n: number;
  readonly at: string;
  readonly type: string;
  readonly taskId?: string | undefined;
  /**
   * `failed`: a task or the run failed. `note`: the run continued. `warning`: no effect on the run.
   */
  readonly weight: "failed" | "note" | "warning";
  readonly title: string;
  readonly code?: string | undefined;
  readonly message: string;
  readonly hint?: string | undefined;
  /** The causes, the outermost cause first. Empty if there is only one error. */
  readonly causes: readonly Cause[];
}

/** Converts an entry of the log to a problem. The title of an unknown type is its name. */
export function troubleOf(entry: LogEntry): Trouble {
  const { n, at, type, taskId } = entry;
  const base = { n, at, type, taskId, causes: [] };
  switch (type) {
    case "task_failed":
      return { ...base, ...failedTask(entry) };
    case "run_failed":
      return {
        ...base,
        weight: "failed",
        title: "The run failed",
        code: text(entry.code),
        message: text(entry.message) ?? "",
      };
    case "run_warning":
      return { ...base, weight: "warning", title: "Warning", message: text(entry.message) ?? "" };
    case "tool_called":
      return { ...base, ...failedTool(entry) };
    default:
      return { ...base, weight: "note", ...noteOf(entry) };
  }
}

function failedTask(
  entry: LogEntry,
): Pick<Trouble, "weight" | "title" | "code" | "message" | "hint" | "causes"> {
  const causes = chainOf(entry.cause);
  const root = causes.findLast(({ code }) => code !== undefined) ?? causes.at(-1);
  const attempt = number(entry.attempt) ?? 1;
  return {
    weight: "failed",
    title: attempt > 1 ? `failed in attempt ${attempt}` : "failed",
    code: root?.code,
    message: root?.message ?? text(entry.reason) ?? "",
    hint: causes.findLast(({ hint }) => hint !== undefined)?.hint,
    causes: causes.length > 1 ? causes : [],
  };
}

/** Returns the errors of a chain, outermost first. */
export function chainOf(error: unknown): readonly Cause[] {
  const chain: Cause[] = [];
  for (let at = error; isFields(at) && chain.length < 10; at = at.cause)
    chain.push({
      code: text(at.code),
      name: text(at.name) ?? "Error",
      message: text(at.message) ?? "",
      hint: text(at.hint),
    });
  return chain;
}

function failedTool(entry: LogEntry): Pick<Trouble, "weight" | "title" | "message" | "hint"> {
  const outcome = outcomeWords(entry.toolOutcome ?? entry.outcome);
  return {
    weight: "note",
    title: `Tool ${text(entry.toolName) ?? ""} ${outcome.word}`,
    message: text(entry.toolResult) ?? outcome.text,
  };
}

type Note = Pick<Trouble, "title" | "message" | "code">;

/** Titles and texts of entries that are not failures of tasks or of the run. */
const NOTES: ReadonlyMap<string, (entry: LogEntry) => Note> = new Map<
  string,
  (entry: LogEntry) => Note
>([
  [
    "usage_recorded",
    ({ attempt, errorCode, error }) => ({
      title: `Model call failed, attempt ${number(attempt) ?? 1}`,
      code: text(errorCode),
      message: text(error) ?? "",
    }),
  ],
  ["guardrail_refused", guardrailNote],
  [
    "output_corrected",
    ({ correction, of, errors }) => ({
      title: `The answer did not fit the schema, correction ${number(correction) ?? 1} of ${number(of) ?? 1}`,
      message: Array.isArray(errors) ? errors.map(String).join("\n") : "",
    }),
  ],
  [
    "iteration_limit_reached",
    ({ max }) => ({
      title: `The agent reached its limit of ${number(max) ?? 0} tool calls`,
      message: "The model was asked for its answer. The third time fails the task.",
    }),
  ],
  [
    "delegation_failed",
    ({ workerRole, reason }) => ({
      title: `Delegation to ${text(workerRole) ?? "an agent"} failed`,
      message: text(reason) ?? "",
    }),
  ],
  [
    "budget_exceeded",
    ({ limit, allowed, used, action }) => ({
      title: `Budget exceeded: ${text(limit) ?? ""}`,
      message: `Allowed ${number(allowed) ?? 0}, used ${number(used) ?? 0}. Action: ${text(action) ?? "stop"}.`,
    }),
  ],
  [
    "call_in_doubt",
    ({ toolName }) => ({
      title: `The effect of a call of ${text(toolName) ?? "a tool"} is unknown`,
      message: "An earlier execution of the run began the call and recorded no result.",
    }),
  ],
]);

function noteOf(entry: LogEntry): Note {
  const note = NOTES.get(entry.type);
  if (note !== undefined) return note(entry);
  return { title: entry.type, message: text(entry.message) ?? text(entry.reason) ?? "" };
}

function guardrailNote({ guardrailName, kind, message, retriesLeft }: LogEntry): Note {
  const left = number(retriesLeft) ?? 0;
  const rest =
    left === 0 ? "No further attempt." : `${left} more ${left === 1 ? "attempt" : "attempts"}.`;
  return {
    title: `${text(guardrailName) ?? "Guardrail"} refused ${kind === "INPUT" ? "the input" : "the output"}`,
    message: `${text(message) ?? ""} ${rest}`.trim(),
  };
}

/**
 * Returns the tasks that did not begin because a task failed: its direct and indirect dependants.
 */
export function notStartedBecauseOf(
  failedId: string,
  tasks: ReadonlyMap<string, Pick<TaskState, "id" | "deps" | "after" | "startMs">>,
): readonly string[] {
  const lost = new Set([failedId]);
  const found: string[] = [];
  for (let grew = true; grew;) {
    grew = false;
    for (const { id, deps, after, startMs } of tasks.values()) {
      if (startMs !== undefined || lost.has(id)) continue;
      if (![...deps, ...after].some((before) => lost.has(before))) continue;
      lost.add(id);
      found.push(id);
      grew = true;
    }
  }
  return found;
}

/** Returns the text of the model's last answer in the entries of a task. */
export function lastAnswer(entries: readonly LogEntry[]): string | undefined {
  const last = entries.findLast(
    ({ type, responseText }) =>
      type === "llm_iteration_completed" && typeof responseText === "string" && responseText !== "",
  );
  return text(last?.responseText);
}

/** Returns the number of answers of a task that did not match its schema. */
export function correctionsOf(entries: readonly LogEntry[]): number {
  return entries.filter(({ type }) => type === "output_corrected").length;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
