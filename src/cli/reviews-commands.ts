import { userInfo } from "node:os";
import type { ReviewDecision as Decision, ReviewResolution } from "../contracts/review.js";
import type { OutputTerminal } from "./terminal.js";
import type { RunsArguments } from "./runs-commands.js";
import { ValidationError } from "../contracts/errors.js";
import { ReviewDecision } from "../contracts/review.js";
import { preview } from "../contracts/validation.js";
import { printableLine } from "../util/printable.js";
import { textGiven } from "./arguments.js";
import { ExitCode } from "./exit-codes.js";
import { reviewText } from "./review-text.js";
import { shellWord } from "./shell-word.js";
import { Store } from "./store.js";

/** `agentensemble reviews list`: lists the open reviews. */
export async function reviewsListCommand(
  o: RunsArguments,
  terminal: OutputTerminal,
): Promise<number> {
  const store = new Store(o);
  const reviews = await store.use(async (runs) => runs.reviews.pending());
  if (o.json === true) await terminal.json({ reviews });
  else if (reviews.length === 0) await terminal.message(`No review waits in ${store.shown}`);
  else await terminal.text(reviews.map((review) => reviewText(review, store)).join("\n\n"));
  return ExitCode.OK;
}

/** Options of `agentensemble reviews answer`. */
export interface AnswerArguments extends RunsArguments {
  readonly text?: string | undefined;
  readonly comment?: string | undefined;
  readonly by?: string | undefined;
}

/** `agentensemble reviews answer <review-id> <decision>`. */
export async function reviewsAnswerCommand(
  reviewId: string,
  what: string,
  o: AnswerArguments,
  terminal: OutputTerminal,
): Promise<number> {
  const decision = await decisionGiven(what, o);
  const store = new Store(o);
  const resolution = await store.use(async (runs) => runs.reviews.resolve(reviewId, decision));
  if (resolution.outcome === "unknown")
    throw new ValidationError(`There is no review '${reviewId}' in ${store.shown}`, {
      hint: `See which wait: agentensemble reviews list${store.option}`,
    });
  if (o.json === true) await terminal.json(resolution);
  else await terminal.text(outcomeText(resolution, store));
  return resolution.outcome === "resolved" ? ExitCode.OK : ExitCode.FAILED;
}

/** @throws ValidationError for an unknown word, and for a missing or superfluous text. */
async function decisionGiven(
  what: string,
  { text, comment, by }: AnswerArguments,
): Promise<Decision> {
  const remarks = { by: by ?? ownName(), ...(comment !== undefined && { comment }) };
  if (what === "edit" && text !== undefined)
    return ReviewDecision.edit(await textGiven("--text", text), remarks);
  if (what === "edit")
    throw new ValidationError("An edit needs --text", {
      hint: "--text @file takes the text of a file.",
    });
  if (text !== undefined) throw new ValidationError("--text is for edit alone");
  if (what === "continue") return ReviewDecision.continue(remarks);
  if (what === "exit") return ReviewDecision.exitEarly(remarks);
  throw new ValidationError(`The decision must be continue, edit or exit, got: ${preview(what)}`);
}

/** @throws ValidationError if the system does not provide the user of the process. */
function ownName(): string {
  try {
    return userInfo().username;
  } catch (cause) {
    throw new ValidationError("Who decides is not known", { cause, hint: "Add --by <name>." });
  }
}

function outcomeText({ outcome, review }: ReviewResolution, { option }: Store): string {
  const runId = review?.runId ?? "";
  if (outcome === "resolved")
    return `Answered. A process that executes run ${printableLine(runId)} continues automatically. Otherwise:\n  agentensemble runs resume <file> ${shellWord(runId)}${option}`;
  if (outcome === "over")
    return "The answer was not taken: the time of the review is up, or its run has ended";
  const { type = "", by } = review?.decision ?? {};
  const who = by === undefined ? "" : ` by ${printableLine(by, 80)}`;
  return `The answer was not taken: the review was decided before${who} (${printableLine(type, 20)})`;
}
