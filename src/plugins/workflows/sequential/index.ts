import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { sequentialWorkflow } from "./sequential-workflow.js";

/** The workflow SEQUENTIAL: executes tasks in the order of the list. */
export function sequential(): Plugin {
  return definePlugin({
    name: "workflow-sequential",
    bind(bind) {
      bind.many(Tokens.WorkflowExecutor).toConstantValue(sequentialWorkflow);
    },
  });
}
