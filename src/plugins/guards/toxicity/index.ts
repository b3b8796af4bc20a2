import type { ModerationModel } from "../../../contracts/moderation.js";
import type { Plugin } from "../../../contracts/plugin.js";
import type { HookRun } from "../../../contracts/run.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import {
  checkOutputOptions,
  outputGuard,
  type OutputProblem,
  type TextGuardOptions,
} from "../shared/output-guard.js";

/** Options of {@link toxicity}. */
export interface ToxicityOptions extends TextGuardOptions {
  /** The vendor's model, for instance `openaiModeration()`. */
  readonly model: ModerationModel;
  /**
   * Minimum scores of refused texts, from 0 to 1, by the vendor's name of the category. Default:
   * the decision of the vendor.
   */
  readonly limits?: Readonly<Record<string, number>> | undefined;
}

function checkScoreLimits(limits: ToxicityOptions["limits"] = {}): void {
  for (const [category, limit] of Object.entries(limits))
    if (typeof limit !== "number" || !(limit >= 0 && limit <= 1))
      throw new ValidationError(
        `toxicity limits.${category} must be a number from 0 to 1, got: ${preview(limit)}`,
      );
}

/**
 * Refuses outputs and inputs of the run that a vendor's moderation model flags. Streams are held
 * back until the whole text has been judged. Each text is sent to the vendor once. If the vendor
 * fails, the text is refused.
 *
 * @throws ValidationError for an unknown option or a missing model.
 */
export function toxicity(options: ToxicityOptions): Plugin {
  checkOutputOptions("toxicity", options, ["model", "limits", "inputs"]);
  const { model, limits } = options;
  if (typeof (model as unknown as ModerationModel | undefined)?.moderate !== "function")
    throw new ValidationError("toxicity needs a model with a function moderate", {
      hint: "Pass openaiModeration() of agentensemble/providers/openai.",
    });
  checkScoreLimits(limits);
  const judged = new WeakMap<HookRun, Map<string, Promise<OutputProblem | undefined>>>();

  async function moderate(text: string, signal: AbortSignal): Promise<OutputProblem | undefined> {
    const [result] = await model.moderate([text], { signal });
    if (result === undefined) throw new ValidationError("The moderation model returned no result");
    const { flagged, scores } = result;
    const categories =
      limits === undefined
        ? flagged
        : Object.keys(limits).filter((name) => (scores[name] ?? 1) >= (limits[name] ?? 1));
    return categories.length === 0
      ? undefined
      : { kind: categories[0] ?? "", reason: `the text was flagged: ${categories.join(", ")}` };
  }

  return outputGuard(options, {
    name: "guards-toxicity",
    hidesReasoning: true,
    judge(text, { run, signal }) {
      if (text.trim() === "") return undefined;
      const texts = judged.get(run) ?? new Map<string, Promise<OutputProblem | undefined>>();
      judged.set(run, texts);
      const known = texts.get(text) ?? moderate(text, signal);
      texts.set(text, known);
      known.catch(() => texts.delete(text)); // a later attempt sends the text again
      return known;
    },
  });
}
