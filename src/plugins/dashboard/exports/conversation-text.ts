import type { LogEntry } from "../../../contracts/run-store.js";
import type { WholeRun } from "../stores/whole-run.js";
import { partLines } from "../../../util/part-line.js";
import { JsonObject } from "../protocol/json-object.js";

/** A part of a conversation: its title and its text. */
type TitledText = readonly [title: string, text: string];

/** Returns a text with the images and files of its entry, one line each. */
function withPartLines(entry: JsonObject, text: string): string {
  return [...(text === "" ? [] : [text]), ...partLines(entry.raw("parts"))].join("\n");
}

function delegationPart(entry: JsonObject): readonly TitledText[] {
  const what = entry.object("request").text("mode") === "handoff" ? "Transfer" : "Delegation";
  return [[`${what} to ${entry.text("workerRole")}`, entry.text("taskDescription")]];
}

/** The text that each type of entry adds to a conversation. */
const PARTS: Readonly<Record<string, ((entry: JsonObject) => readonly TitledText[]) | undefined>> =
  {
    task_started: (entry) => [[`Attempt ${entry.number("attempt", 1)}`, ""]],
    task_input: (entry) => [
      ["System prompt", entry.text("systemPrompt")],
      ["Prompt", withPartLines(entry, entry.text("userPrompt"))],
    ],
    reasoning_received: (entry) => [["Reasoning", entry.text("reasoning")]],
    llm_iteration_completed: (entry) => [["Answer of the model", entry.text("responseText")]],
    tool_called: (entry) => [
      [`Tool call ${entry.text("toolName")}`, entry.text("toolArguments")],
      [
        `Result (${entry.text("toolOutcome") || entry.text("outcome")})`,
        withPartLines(entry, entry.text("toolResult")),
      ],
    ],
    delegation_started: delegationPart,
    delegation_failed: (entry) => [["Delegation failed", entry.text("reason")]],
    guardrail_refused: (entry) => [
      [`Refused by ${entry.text("guardrailName")}`, entry.text("message")],
    ],
    output_corrected: (entry) => [["Correction requested", entry.texts("errors").join("\n")]],
    review_requested: (entry) => [["Review requested", entry.text("prompt")]],
    review_resolved: (entry) => [
      [`Review: ${entry.text("decision")} ${entry.text("by")}`.trim(), entry.text("comment")],
    ],
    retry_scheduled: (entry) => [["Repeated after a failure", entry.text("reason")]],
    task_failed: (entry) => [
      [`Failed: ${entry.object("cause").text("code")}`, entry.object("cause").text("message")],
    ],
    task_completed: (entry) => [["Output", entry.object("taskOutput").text("raw")]],
  };

/**
 * Returns the conversation of one task, or of all tasks, as Markdown. Texts of a run are in code
 * blocks.
 */
export function conversationText({ view, entries }: WholeRun, taskId?: string): string {
  const { ensemble, runId, startedAt, state } = view.summary;
  const head = `# ${headingText(ensemble === "" ? "Run" : ensemble)}\n\nRun ${headingText(runId)}, ${startedAt}, ${state}\n`;
  const byTask = new Map<string, LogEntry[]>();
  for (const entry of entries) {
    if (entry.taskId === undefined) continue;
    if (taskId !== undefined && entry.taskId !== taskId) continue;
    byTask.set(entry.taskId, [...(byTask.get(entry.taskId) ?? []), entry]);
  }
  const tasks = [...byTask].map(([id, own]) => {
    const { role = "", description = "" } = view.tasks.get(id) ?? {};
    const parts = own.flatMap(titledTexts).map(partText);
    return `## ${headingText(id)}\n\n${headingText(`${role}: ${description}`)}\n\n${parts.join("\n")}`;
  });
  return [head, ...tasks].join("\n");
}

function titledTexts(entry: LogEntry): readonly TitledText[] {
  const parts = PARTS[entry.type]?.(new JsonObject(entry)) ?? [];
  return parts.filter(([title, text]) => text !== "" || !/^(System prompt|Prompt)$/.test(title));
}

function partText([title, text]: TitledText): string {
  const heading = `### ${headingText(title)}\n`;
  if (text === "") return heading;
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${heading}\n${fence}text\n${text}\n${fence}\n`;
}

/** Escapes a text for a heading or a line. */
function headingText(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/[\\`*_[\]<>#|]/g, "\\$&")
    .trim();
}
