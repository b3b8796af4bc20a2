import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { phasesWorkflow } from "./phases-workflow.js";

/**
 * The workflow PHASES, which runs an ensemble's `phases`. A phase starts when the phases that it
 * depends on are done. Independent phases run in parallel.
 */
export function phases(): Plugin {
  return definePlugin({
    name: "workflow-phases",
    bind(bind) {
      bind.many(Tokens.WorkflowExecutor).toConstantValue(phasesWorkflow);
    },
  });
}
