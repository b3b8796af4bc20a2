import type {
  ReviewAsker,
  ReviewDecision,
  ReviewGate,
  ReviewQuestion,
} from "../../../contracts/review.js";
import { ReviewError } from "../../../contracts/state-errors.js";
import { prompt } from "../../../contracts/prompt-text.js";
import { preview } from "../../../contracts/validation.js";

/** The maximum number of edits. A program as handler could repeat an invalid edit forever. */
const MAX_EDITS = 3;

/** The value of an edit, or the reason why the edit is invalid. */
export type ReadEdit<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/** A decision, with the value of its edit. */
export type FittingDecision<T> =
  | { readonly type: "CONTINUE" }
  | { readonly type: "EDIT"; readonly value: T }
  | {
      readonly type: "EXIT_EARLY";
      readonly timedOut: boolean;
      readonly comment: string | undefined;
    };

/**
 * Asks for a decision. After an invalid edit it asks again, with the reason in the question. A
 * missing bracket therefore does not lose finished work.
 * @throws ReviewError if the third edit is also invalid; the errors of the gate.
 */
export async function askUntilFits<T>(
  gate: ReviewGate,
  question: ReviewQuestion,
  asker: ReviewAsker,
  read: (text: string) => Promise<ReadEdit<T>>,
): Promise<FittingDecision<T>> {
  let next = question;
  let problem = "";
  for (let edits = 1; edits <= MAX_EDITS; edits++) {
    const decision = await gate.ask(next, asker);
    if (decision.type !== "EDIT") return withoutEdit(decision);
    const text = decision.revisedOutput ?? "";
    const edit = await read(text);
    if (edit.ok) return { type: "EDIT", value: edit.value };
    problem = edit.problem;
    const told = `This edit was not taken: ${problem}\nIt was: ${preview(text)}`;
    next = {
      ...question,
      key: `${question.key}:edit-${edits + 1}`,
      prompt: question.prompt === undefined ? told : prompt`${question.prompt}\n${told}`,
    };
  }
  throw new ReviewError(`The edit of a review does not fit: ${problem}`, {
    hint: "Edit the text to match the required format, or continue without a change.",
  });
}

function withoutEdit({ type, timedOut, comment }: ReviewDecision): FittingDecision<never> {
  return type === "EXIT_EARLY"
    ? { type, timedOut: timedOut === true, comment }
    : { type: "CONTINUE" };
}
