import type { OnReviewTimeout, ReviewDecision } from "../../../contracts/review.js";
import type { RunInfo } from "../../../contracts/run-info.js";
import type { Tool, ToolContext } from "../../../contracts/tool.js";
import { ExitEarlySignal } from "../../../contracts/errors.js";
import { checkReviewOptions } from "../../../contracts/review.js";
import { ReviewUnavailableError } from "../../../contracts/state-errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { tool } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { checkOptions, requireText } from "../../../contracts/validation.js";
import { PromptLibrary } from "../../shared/prompts/prompt-library.js";
import { REVIEW_TEMPLATES } from "../shared/review-prompts.js";

/** Options of {@link humanInputTool}. */
export interface HumanInputOptions {
  /**
   * The description for the model: when to ask. By default the model asks if a decision or a fact
   * is missing that only a person can supply.
   */
  readonly description?: string | undefined;
  /** Time limit of an answer in milliseconds. 0 means no limit. Default 300,000. */
  readonly timeoutMs?: number | undefined;
  /** The reaction to the time limit. Default CONTINUE: the model is instructed to continue. */
  readonly onTimeout?: OnReviewTimeout | undefined;
  /** The role that the person must have. Passed to the handler, which must check it. */
  readonly requiredRole?: string | undefined;
}

/** The arguments of the model. */
export type HumanInput = Readonly<Record<string, unknown>>;

const DESCRIPTION =
  'Asks a person a question and waits for the answer. Use it when a decision or a fact is missing that only a person can give. Example: {"question": "Which of the two dates suits you?"}';

/** The general time limit of tools does not apply, because the review has its own time limit. */
const LONGEST_MS = 2_147_483_647;

const INPUT = Object.freeze({
  type: "object",
  properties: {
    question: {
      type: "string",
      description: "The question, with all that the person must know to answer it",
      examples: ["Which of the two dates suits you?"],
    },
  },
  required: ["question"],
  additionalProperties: false,
});

/**
 * Creates the tool `human_input`, with which an agent asks a person a question. The answer is an
 * edit of the review. `continue` instructs the model to continue. An early exit ends the run. If no
 * person can answer, the model receives a text that states this.
 *
 * @throws ValidationError for an unknown option or a value out of range.
 */
export function humanInputTool(options: HumanInputOptions = {}): Tool<HumanInput> {
  checkOptions("humanInputTool", options, [
    "description",
    "timeoutMs",
    "onTimeout",
    "requiredRole",
  ]);
  checkReviewOptions("humanInputTool", options);
  const { description = DESCRIPTION, timeoutMs, onTimeout = "CONTINUE", requiredRole } = options;
  requireText(description, "humanInputTool description must not be blank");
  const library = new PromptLibrary(REVIEW_TEMPLATES);
  const warned = new WeakSet<RunInfo>();
  return tool<HumanInput>({
    name: "human_input",
    description,
    input: INPUT,
    effect: "read",
    timeoutMs: LONGEST_MS,
    async execute({ question }, ctx) {
      if (typeof question !== "string" || question.trim() === "")
        return ToolResult.failure("question must be a text that is not blank");
      const texts = library.textsOf(ctx.scope.all(Tokens.PromptTemplates), ctx.run);
      const decision = await askPerson(ctx, {
        description: question,
        timeoutMs,
        onTimeout,
        requiredRole,
      });
      if (decision === undefined) {
        warnOnce(warned, ctx);
        return texts.render("review.humanMissing", {});
      }
      if (decision.type === "EXIT_EARLY")
        throw new ExitEarlySignal("Human reviewer requested early exit via HumanInputTool", {
          timedOut: decision.timedOut,
        });
      return decision.type === "EDIT"
        ? (decision.revisedOutput ?? "")
        : texts.render("review.humanContinue", {});
    },
  });
}

/** Warns once about the missing handler, because the model continues without an answer. */
function warnOnce(warned: WeakSet<RunInfo>, { scope }: ToolContext): void {
  if (warned.has(scope.run)) return;
  warned.add(scope.run);
  scope.emit({
    type: "run_warning",
    message:
      "Tool 'human_input' can't ask: the run has no review handler, and its review store has no listener",
  });
}

/** Returns `undefined` if no reviewer can answer. */
async function askPerson(
  ctx: ToolContext,
  question: Parameters<ToolContext["requestApproval"]>[0],
): Promise<ReviewDecision | undefined> {
  try {
    return await ctx.requestApproval(question);
  } catch (error) {
    if (ReviewUnavailableError.isInstance(error)) return undefined;
    throw error;
  }
}
