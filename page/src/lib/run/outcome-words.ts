import type { ToolOutcome } from "../../../../src/contracts/trace.js";

/** The outcome of a tool call, in words. */
export interface OutcomeWords {
  readonly word: string;
  /** An explanation of the outcome. */
  readonly text: string;
  readonly tone: "done" | "failed" | "waiting" | "idle";
}

const OUTCOMES: Readonly<Record<ToolOutcome, OutcomeWords>> = {
  SUCCESS: { word: "succeeded", text: "The tool returned a result.", tone: "done" },
  FAILURE: {
    word: "reported a failure",
    text: "The tool ran and returned a failure. The model received its text.",
    tone: "failed",
  },
  ERROR: {
    word: "threw an error",
    text: "The tool threw an error, or its arguments did not fit its schema.",
    tone: "failed",
  },
  TIMED_OUT: {
    word: "timed out",
    text: "The tool did not end within its time limit.",
    tone: "failed",
  },
  REJECTED: {
    word: "refused",
    text: "A plugin or a person refused the call. The tool did not run.",
    tone: "waiting",
  },
  CANCELLED: {
    word: "cancelled",
    text: "The run or the task ended while the tool ran.",
    tone: "idle",
  },
  SKIPPED_MAX_ITERATIONS: {
    word: "skipped",
    text: "The agent had used up its calls. The model was asked for its answer.",
    tone: "waiting",
  },
};

const UNKNOWN: OutcomeWords = { word: "ended", text: "The outcome is not known.", tone: "idle" };

/** Returns the words of an outcome. */
export function outcomeWords(outcome: unknown): OutcomeWords {
  return Object.entries(OUTCOMES).find(([name]) => name === outcome)?.[1] ?? UNKNOWN;
}
