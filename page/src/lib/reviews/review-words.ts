import type { StoredReview } from "../../../../src/contracts/review.js";
import type { AnsweredReview } from "../../../../src/plugins/dashboard/protocol/messages.js";

/**
 * The subject of a review. `before`: a task before its start. `after`: its output. `call`: a tool
 * call. `question`: a question of a tool.
 */
export type ReviewKind = "before" | "after" | "call" | "question";

export function kindOf({ timing, input }: Pick<StoredReview, "timing" | "input">): ReviewKind {
  if (timing === "BEFORE_EXECUTION") return "before";
  if (timing === "AFTER_EXECUTION") return "after";
  return input === undefined ? "question" : "call";
}

/** The words of one kind of review. */
interface KindWords {
  readonly label: string;
  /** The heading above the judged text. */
  readonly subject: string;
  readonly approve: string;
  readonly edit: string;
  readonly end: string;
}

const WORDS: Readonly<Record<ReviewKind, KindWords>> = {
  before: {
    label: "before task",
    subject: "Task",
    approve: "Start the task",
    edit: "",
    end: "End the run",
  },
  after: {
    label: "output",
    subject: "Output",
    approve: "Approve",
    edit: "Approve with edit",
    end: "End the run",
  },
  call: {
    label: "tool call",
    subject: "Arguments",
    approve: "Approve",
    edit: "Approve with edit",
    end: "Don’t make the call",
  },
  question: {
    label: "question",
    subject: "Answer",
    approve: "Continue without answer",
    edit: "Send answer",
    end: "End the run",
  },
};

export function wordsOf(review: Pick<StoredReview, "timing" | "input">): KindWords {
  return WORDS[kindOf(review)];
}

/** Describes the effect of an expired review. */
export function afterwards(review: Pick<StoredReview, "timing" | "input" | "onTimeout">): string {
  const kind = kindOf(review);
  switch (review.onTimeout) {
    case "CONTINUE":
      return kind === "question" ? "continues without answer" : "approved";
    case "FAIL":
      return "the task fails";
    case "EXIT_EARLY":
      return kind === "call" ? "not made" : "the run ends";
  }
}

/** Returns the question of a review: the author's text, otherwise the subject. */
export function titleOf(review: StoredReview): string {
  const { prompt, taskDescription, toolName } = review;
  switch (kindOf(review)) {
    case "before":
      return prompt ?? "Start this task?";
    case "after":
      return prompt ?? "Approve this output?";
    case "call":
      return taskDescription === "" ? `Call ${toolName ?? "the tool"}?` : taskDescription;
    case "question":
      return taskDescription === "" ? (prompt ?? "A tool asks a question") : taskDescription;
  }
}

/**
 * Returns the remaining fraction of the time for an answer, from 0 to 1. Returns `undefined`
 * without a limit.
 */
export function shareLeft(
  { deadline, timeoutMs }: Pick<StoredReview, "deadline" | "timeoutMs">,
  nowMs: number,
): number | undefined {
  if (deadline === undefined || timeoutMs <= 0) return undefined;
  return Math.min(1, Math.max(0, (Date.parse(deadline) - nowMs) / timeoutMs));
}

const DECIDED: Readonly<Record<string, string>> = {
  CONTINUE: "approved",
  EDIT: "approved with edit",
  EXIT_EARLY: "ended",
  FAIL: "failed",
};

/** Returns the word of a decision. Kernel and routes write decisions in different cases. */
export function decisionWord(decision: string): string {
  const word = decision.toUpperCase();
  return DECIDED[word === "APPROVE" ? "CONTINUE" : word] ?? decision.toLowerCase();
}

/** Describes the end of a review as a sentence. */
export function endOf({ decision, timedOut, by }: AnsweredReview): string {
  const word = decisionWord(decision);
  if (timedOut) return `Time limit reached: ${word}`;
  return by === undefined ? `Answered: ${word}` : `Answered by ${by}: ${word}`;
}
