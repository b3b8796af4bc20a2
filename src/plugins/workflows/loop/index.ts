import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { LoopWorkflow } from "./loop-workflow.js";
import { LOOP_TEMPLATES } from "./loop-prompts.js";

/** The workflow LOOP, which SEQUENTIAL and PARALLEL use for an ensemble's loops. */
export function loop(): Plugin {
  return definePlugin({
    name: "workflow-loop",
    bind(bind) {
      bind.many(Tokens.WorkflowExecutor).toConstantValue(new LoopWorkflow());
      bind.many(Tokens.PromptTemplates).toConstantValue(LOOP_TEMPLATES);
    },
  });
}
