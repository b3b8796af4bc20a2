import type { StoredReview } from "../contracts/review.js";
import type { Store } from "./store.js";
import { printableLine, printableText } from "../util/printable.js";
import { shellWord } from "./shell-word.js";

const SHOWN = 2_000;

/** Returns the command that answers a review. */
function answerCommand(
  { reviewId }: Pick<StoredReview, "reviewId">,
  { option }: Pick<Store, "option">,
): string {
  return `agentensemble reviews answer ${shellWord(reviewId)} continue${option}`;
}

/** Formats the question of a review in one line. */
function questionLine({ taskId, prompt, taskDescription, timing }: StoredReview): string {
  const when = timing.toLowerCase().replaceAll("_", " ");
  return `${printableLine(taskId, 60)} (${when}): ${printableLine(prompt ?? taskDescription, 200)}`;
}

/** Formats the question, and the command that answers it. */
export function linesToAnswer(review: StoredReview, store: Store): readonly string[] {
  return [`  ${questionLine(review)}`, `    ${answerCommand(review, store)}`];
}

/** Formats all data for a decision. */
export function reviewText(review: StoredReview, store: Store): string {
  const { reviewId, runId, agentRole, taskOutput, input, toolName } = review;
  const lines = [
    `review ${printableLine(reviewId)}`,
    `  ${questionLine(review)}`,
    `  run      ${printableLine(runId)}`,
    `  agent    ${printableLine(agentRole, 80)}`,
    `  asked    ${printableLine(review.requestedAt)}${review.deadline === undefined ? "" : `, until ${printableLine(review.deadline)}`}`,
    ...(review.requiredRole === undefined
      ? []
      : [`  role     ${printableLine(review.requiredRole, 80)}`]),
    ...(toolName === undefined ? [] : [`  tool     ${printableLine(toolName, 80)}`]),
    ...(input === undefined ? [] : [`  input    ${printableLine(JSON.stringify(input), SHOWN)}`]),
    ...(taskOutput === "" ? [] : ["  text", ...indentedLines(taskOutput)]),
    ...(review.truncated === true ? ["  (only a part is shown)"] : []),
    `  ${answerCommand(review, store)}`,
  ];
  return lines.join("\n");
}

function indentedLines(text: string): readonly string[] {
  const shown = printableText(text);
  const cut = shown.length > SHOWN ? `${shown.slice(0, SHOWN)}...` : shown;
  return cut.split("\n").map((line) => `    ${line}`);
}
