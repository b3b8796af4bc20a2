import type {
  ReviewAsker,
  ReviewDecision,
  ReviewGate,
  ReviewQuestion,
} from "../../../contracts/review.js";
import { ReviewError } from "../../../contracts/state-errors.js";
import { prompt } from "../../../contracts/prompt-text.js";
import { preview } from "../../../contracts/validation.js";

/** So often somebody may edit before the gate is closed for good: a handler that is a program would go on for ever. */
const MAX_EDITS = 3;

/** What an edit stands for, or what is wrong with it. */
export type ReadEdit<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/** A decision, with what its edit stands for. */
export type FittingDecision<T> =
  | { readonly type: "CONTINUE" }
  | { readonly type: "EDIT"; readonly value: T }
  | {
      readonly type: "EXIT_EARLY";
      readonly timedOut: boolean;
      readonly comment: string | undefined;
    };

/**
 * Asks; an edit that does not fit is asked for again, and the question then says what was wrong: nobody should lose finished work by a missing bracket.
 * @throws ReviewError when the third edit does not fit either; what the gate throws.
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
    hint: "Edit it into the form that is asked for, or let it pass as it is.",
  });
}

function withoutEdit({ type, timedOut, comment }: ReviewDecision): FittingDecision<never> {
  return type === "EXIT_EARLY"
    ? { type, timedOut: timedOut === true, comment }
    : { type: "CONTINUE" };
}
