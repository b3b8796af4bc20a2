import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { parallelWorkflow } from "./parallel-workflow.js";

/** The workflow PARALLEL: every task starts as soon as its last context task is done. */
export function parallel(): Plugin {
  return definePlugin({
    name: "workflow-parallel",
    bind(bind) {
      bind.many(Tokens.WorkflowExecutor).toConstantValue(parallelWorkflow);
    },
  });
}
