import type { ReviewRequest } from "../../../contracts/review.js";
import { isObject } from "../../../util/objects.js";
import { printableLine, printableText } from "../../../util/printable.js";
import { excerpt, textOf } from "../../../util/text.js";

/** The maximum length of a shown field, in characters. */
const FIELD_LIMIT = 1_000;
const LINE = "-".repeat(60);
const TIMINGS = {
  BEFORE_EXECUTION: "before the task",
  DURING_EXECUTION: "during the task",
  AFTER_EXECUTION: "after the task",
} as const;
const AUTOMATIC = { EXIT_EARLY: "auto-x", CONTINUE: "auto-c", FAIL: "auto-fail" } as const;

/**
 * Returns the information for a decision. Each line of text from models starts with a bar, so the
 * text cannot imitate the question.
 */
export function headerOf(request: ReviewRequest): string {
  const { timing, taskId, agentRole, taskDescription, taskOutput, input, prompt, requiredRole } =
    request;
  const facts = [
    `== Review ${TIMINGS[timing]} ${"=".repeat(Math.max(0, 49 - TIMINGS[timing].length))}`,
    `Task:   ${printableLine(taskId)} ${agentRole.startsWith("(") ? printableLine(agentRole) : `(${printableLine(agentRole)})`}`,
    barred(taskDescription),
    ...(taskOutput === "" ? [] : ["Output:", barred(taskOutput)]),
    ...(input === undefined ? [] : ["Input:", barred(fieldsOf(input, FIELD_LIMIT))]),
    ...(isPartial(request)
      ? ["(Not all of the input is shown: v shows it. An empty line approves nothing until then.)"]
      : []),
    ...(prompt === undefined ? [] : ["Asked:", barred(prompt)]),
    ...(requiredRole === undefined ? [] : [`Wanted: ${printableLine(requiredRole)}`]),
    "(m adds a comment to the decision.)",
    LINE,
  ];
  return `\n${facts.join("\n")}\n`;
}

/** Whether the header or the request omits a part of the input. */
export function isPartial({ input, truncated }: ReviewRequest): boolean {
  return truncated === true || fieldsOf(input, FIELD_LIMIT) !== fieldsOf(input, Infinity);
}

/** The complete input. */
export function wholeInputOf({ input }: ReviewRequest): string {
  return `Input:\n${barred(fieldsOf(input, Infinity))}\n`;
}

/**
 * Returns each field on a separate line, with its further lines indented. A field longer than
 * `limit` characters is reduced to its start and its end.
 */
function fieldsOf(input: unknown, limit: number): string {
  if (!isObject(input)) return excerpt(textOf(input), limit);
  return Object.entries(input)
    .map(([name, value]) => {
      const text = printableText(excerpt(textOf(value ?? "null"), limit));
      return `${printableLine(name)}: ${text.replaceAll("\n", "\n    ")}`;
    })
    .join("\n");
}

/** The prompt before the cursor. */
export function choicesOf(request: ReviewRequest, waitedMs: number): string {
  const { timeoutMs, onTimeout } = request;
  const automatic =
    timeoutMs === 0 ? "" : ` (${AUTOMATIC[onTimeout]} in ${minutes(timeoutMs - waitedMs)})`;
  const view = isPartial(request) ? "  [v] View all" : "";
  return `[c] Continue  [e] Edit  [x] Exit early${view}${automatic}  > `;
}

/** The remaining time, such as `4:59`. */
function minutes(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function barred(text: string): string {
  return printableText(text)
    .split("\n")
    .map((line) => `  | ${line}`)
    .join("\n");
}
