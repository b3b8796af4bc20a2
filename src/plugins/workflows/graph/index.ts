import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { GraphWorkflow } from "./graph-workflow.js";
import { GRAPH_TEMPLATES } from "./graph-prompts.js";

/**
 * The workflow GRAPH, which runs an ensemble's `graph`: one state at a time, chosen by the edges.
 */
export function graph(): Plugin {
  return definePlugin({
    name: "workflow-graph",
    bind(bind) {
      bind.many(Tokens.WorkflowExecutor).toConstantValue(new GraphWorkflow());
      bind.many(Tokens.PromptTemplates).toConstantValue(GRAPH_TEMPLATES);
    },
  });
}
