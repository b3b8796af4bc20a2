import type { ModelRef } from "../../../contracts/chat-model.js";
import { checkModel } from "../../../contracts/agent.js";
import { ValidationError } from "../../../contracts/errors.js";
import { checkReviewOptions, type ReviewOptions } from "../../../contracts/review.js";
import { checkOptions, requireBoolean, requireOneOf } from "../../../contracts/validation.js";
import type { GuardReporting } from "../shared/findings.js";
import { checkGuardOptions, requireTextList } from "../shared/guarded-tasks.js";

/** Options of {@link promptInjection}. */
export interface PromptInjectionOptions extends GuardReporting {
  /**
   * The reaction to a finding. `mark` (default): the model receives the text between marks, with a
   * notice that it is data. `refuse`: the model receives a reason in place of a tool's result. A
   * task with such a document fails. `review`: a person decides. Without an answer, the text is
   * refused.
   */
  readonly action?: "mark" | "refuse" | "review" | undefined;
  /**
   * The tools whose results are checked: `all` (default), or those with `untrusted: true`
   * (`untrusted`).
   */
  readonly tools?: "all" | "untrusted" | undefined;
  /** Names of the run's inputs that contain external text. They are checked. Default: none. */
  readonly inputs?: readonly string[] | undefined;
  /** Whether text parts and text files of user messages are checked. Default true. */
  readonly documents?: boolean | undefined;
  /** Whether entries are checked before they are written to memory. Default true. */
  readonly memory?: boolean | undefined;
  /**
   * A model that judges texts, called with the purpose `judge`. If the call fails, the text counts
   * as a finding. Default: none.
   */
  readonly judge?: ModelRef | undefined;
  /**
   * The texts that the judge receives. `suspected` (default): the texts in which the heuristics
   * find signs. `all`: all texts.
   */
  readonly judged?: "suspected" | "all" | undefined;
  /** Options of the review. Allowed only with `action: "review"`. */
  readonly review?: ReviewOptions | undefined;
}

const OPTIONS = ["action", "tools", "inputs", "documents", "memory", "judge", "judged", "review"];

/** @throws ValidationError */
export function checkInjectionOptions(options: PromptInjectionOptions): void {
  const what = "promptInjection";
  checkGuardOptions(what, options, OPTIONS);
  requireOneOf(`${what} action`, options.action, ["mark", "refuse", "review"]);
  requireOneOf(`${what} tools`, options.tools, ["all", "untrusted"]);
  requireOneOf(`${what} judged`, options.judged, ["suspected", "all"]);
  requireTextList(`${what} inputs`, options.inputs);
  requireBoolean(`${what} documents`, options.documents);
  requireBoolean(`${what} memory`, options.memory);
  if (options.judge !== undefined) checkModel(`${what} judge`, options.judge);
  if (options.judged !== undefined && options.judge === undefined)
    throw new ValidationError(`${what} judged needs a judge`);
  if (options.review === undefined) return;
  if (options.action !== "review")
    throw new ValidationError(`${what} review needs the action 'review'`);
  checkOptions(`${what} review`, options.review, [
    "prompt",
    "timeoutMs",
    "onTimeout",
    "requiredRole",
  ]);
  checkReviewOptions(`${what} review`, options.review);
}
