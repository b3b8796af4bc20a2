import type { ReviewRequest } from "../../../contracts/review.js";
import { printableText } from "../../../util/printable.js";

const LINE = "-".repeat(60);
const TIMINGS = {
  BEFORE_EXECUTION: "before the task",
  DURING_EXECUTION: "during the task",
  AFTER_EXECUTION: "after the task",
} as const;
const AUTOMATIC = { EXIT_EARLY: "auto-x", CONTINUE: "auto-c", FAIL: "auto-fail" } as const;

/** Everything there is to know before deciding. Text from models stands behind a bar, so that it can't pass for a question of ours. */
export function headerOf({
  timing,
  taskId,
  agentRole,
  taskDescription,
  taskOutput,
  prompt,
  requiredRole,
}: ReviewRequest): string {
  const facts = [
    `== Review ${TIMINGS[timing]} ${"=".repeat(Math.max(0, 49 - TIMINGS[timing].length))}`,
    `Task:   ${printableText(taskId)} ${agentRole.startsWith("(") ? printableText(agentRole) : `(${printableText(agentRole)})`}`,
    barred(taskDescription),
    ...(taskOutput === "" ? [] : ["Output:", barred(taskOutput)]),
    ...(prompt === undefined ? [] : ["Asked:", barred(prompt)]),
    ...(requiredRole === undefined ? [] : [`Wanted: ${printableText(requiredRole)}`]),
    LINE,
  ];
  return `\n${facts.join("\n")}\n`;
}

/** The line in front of the cursor. */
export function choicesOf({ timeoutMs, onTimeout }: ReviewRequest, waitedMs: number): string {
  const automatic =
    timeoutMs === 0 ? "" : ` (${AUTOMATIC[onTimeout]} in ${minutes(timeoutMs - waitedMs)})`;
  return `[c] Continue  [e] Edit  [x] Exit early${automatic}  > `;
}

/** `4:59`. */
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
