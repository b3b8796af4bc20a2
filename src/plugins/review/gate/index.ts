import type { Plugin } from "../../../contracts/plugin.js";
import type { ReviewPluginOptions } from "./review-gate-options.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { REVIEW_TEMPLATES } from "../shared/review-prompts.js";
import { HandlerGate } from "./handler-gate.js";
import { resolveReviewOptions } from "./review-gate-options.js";
import { unwatchedReviews } from "./review-inbox.js";
import { TaskReviews } from "./task-reviews.js";

export type { ReviewPluginOptions } from "./review-gate-options.js";

/**
 * Lets people review tasks before (`Task.beforeReview`) and after their execution (`Task.review`,
 * `reviewPolicy`). It is one of the standard plugins. Add it yourself to set the store of reviews,
 * or the defaults of reviews without their own time limit.
 * @throws ValidationError for an unknown option or a value out of range.
 */
export function review(options: ReviewPluginOptions = {}): Plugin {
  const { store, ...defaults } = resolveReviewOptions(options);
  const gate = new HandlerGate(defaults);
  const reviews = new TaskReviews();
  return definePlugin({
    name: "review",
    bind(bind) {
      bind.single(Tokens.ReviewGate, { default: true }).toConstantValue(gate);
      if (store === undefined)
        bind.single(Tokens.ReviewStore, { default: true }).toConstantValue(unwatchedReviews());
      else bind.single(Tokens.ReviewStore).toConstantValue(store);
      bind.many(Tokens.PromptTemplates).toConstantValue(REVIEW_TEMPLATES);
    },
    apply({ hooks }) {
      // Runs after the guardrails, because a refused output is not reviewed.
      hooks.beforeTask.tap({ name: "review", lane: "policy", order: "post" }, (call) =>
        reviews.before(call),
      );
      hooks.afterTask.tap({ name: "review", lane: "review" }, (call) => reviews.after(call));
    },
  });
}
