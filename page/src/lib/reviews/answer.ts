import type { StoredReview } from "../../../../src/contracts/review.js";
import type {
  ErrorBody,
  ReviewDecisionBody,
} from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import type { BoardUser } from "../../../../src/plugins/dashboard/protocol/messages.js";
import { fitProblem } from "./schema-check.js";
import { decisionWord, kindOf } from "./review-words.js";

/**
 * Returns the reason why a user may not answer a review. Returns `undefined` if the user may
 * answer.
 */
export function refusalFor(
  user: BoardUser,
  { requiredRole }: Pick<StoredReview, "requiredRole">,
): string | undefined {
  if (user.role === "viewer") return "Your role is viewer: you may look, not answer.";
  const roles = user.reviewRoles ?? [];
  if (requiredRole === undefined || roles.includes("*") || roles.includes(requiredRole))
    return undefined;
  const own = roles.length === 0 ? "no review role" : roles.join(", ");
  return `This review requires the role ${requiredRole}. You have ${own}.`;
}

/** Returns the original form of the text that a user may edit. */
export function originalText(review: StoredReview): string {
  switch (kindOf(review)) {
    case "call":
      return JSON.stringify(review.input, null, 2);
    case "after":
      return review.taskOutput;
    case "before":
    case "question":
      return "";
  }
}

/**
 * Returns the reason why an edit is invalid. Returns `undefined` for a valid edit. Follows the
 * rules of the server. There, a text that is not a JSON object replaces the main argument of a
 * call.
 */
export function editProblem(review: StoredReview, text: string): string | undefined {
  const { editSchema } = review;
  const kind = kindOf(review);
  if (kind === "question" && text.trim() === "") return "The answer is empty.";
  if (editSchema === undefined) return undefined;
  const value = jsonIn(text);
  if (kind === "call") {
    if (value.ok) return isRecord(value.value) ? fitProblem(editSchema, value.value) : undefined;
    return text.trimStart().startsWith("{") ? `Not valid JSON: ${value.problem}` : undefined;
  }
  const asText = fitProblem(editSchema, text);
  if (asText === undefined) return undefined;
  return value.ok ? fitProblem(editSchema, value.value) : `Not valid JSON: ${value.problem}`;
}

type Read =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

function jsonIn(text: string): Read {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

function isRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the body of an answer. Omits a comment without text. */
export function answerBody(
  decision: ReviewDecisionBody["decision"],
  o: { readonly text?: string | undefined; readonly comment: string },
): ReviewDecisionBody {
  const comment = o.comment.trim();
  return {
    decision,
    ...(decision === "edit" && { revisedOutput: o.text ?? "" }),
    ...(comment !== "" && { comment }),
  };
}

/** The result of an answer that was not applied. */
export interface Refusal {
  /** `over`: the review can no longer be answered. `fix`: another answer may be accepted. */
  readonly kind: "over" | "fix";
  readonly title: string;
  readonly text: string;
}

/** Explains the answer of the server to a decision that it did not accept. */
export function refusalOf(status: number, body: ErrorBody): Refusal {
  switch (status) {
    case 409:
      return { kind: "over", ...answeredBefore(body) };
    case 410:
      return {
        kind: "over",
        title: "Too late.",
        text: `${body.message} Your answer was not used.`,
      };
    case 404:
      return { kind: "over", title: "Unknown review.", text: "Its run has ended or was removed." };
    case 403:
      return { kind: "fix", title: "Not allowed.", text: body.message };
    case 422:
      return { kind: "fix", title: "The edit does not fit.", text: body.message };
    case 401:
      return { kind: "fix", title: "Not signed in.", text: "Reload the page and sign in again." };
    case 0:
      return {
        kind: "fix",
        title: "Not sent.",
        text: "The server does not answer. Your text is kept; send it again when the connection is back.",
      };
    default:
      return { kind: "fix", title: `Refused (${body.error}).`, text: body.message };
  }
}

function answeredBefore(body: ErrorBody): Pick<Refusal, "title" | "text"> {
  const { by, decision } = body;
  const who = typeof by === "string" && by !== "" ? by : "another person";
  const what = typeof decision === "string" ? `: ${decisionWord(decision)}` : "";
  return { title: `Answered by ${who}${what}.`, text: "Your answer was not used." };
}
