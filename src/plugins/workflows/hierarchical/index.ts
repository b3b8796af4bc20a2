import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { HierarchicalWorkflow } from "./hierarchical-workflow.js";
import { ManagerExecutor } from "./manager-executor.js";
import { DelegationConstraint, RunConstraints } from "./run-constraints.js";
import { MANAGER_TEMPLATES } from "./hierarchical-prompts.js";

/**
 * The workflow HIERARCHICAL: a manager delegates the tasks to workers, within the ensemble's
 * constraints. Must follow the agents plugin, whose executor runs the manager's task.
 */
export function hierarchical(): Plugin {
  const constraints = new RunConstraints();
  return definePlugin({
    name: "workflow-hierarchical",
    bind(bind) {
      const executor = new ManagerExecutor();
      bind.many(Tokens.TaskExecutor).toConstantValue(executor);
      bind
        .many(Tokens.WorkflowExecutor)
        .toConstantValue(new HierarchicalWorkflow(executor, constraints));
      bind.many(Tokens.PromptTemplates).toConstantValue(MANAGER_TEMPLATES);
      bind.many(DelegationConstraint).toConstantValue((call) => constraints.refusal(call));
    },
    apply({ hooks }) {
      // Runs after all other policies, so a delegation that they reject is not counted.
      hooks.beforeDelegation.tap({ name: "constraints", lane: "policy", order: "post" }, (call) =>
        constraints.judge(call),
      );
      hooks.afterTask.tap({ name: "constraints", lane: "policy" }, (call) =>
        constraints.judgeAnswer(call),
      );
      hooks.afterDelegation.tap({ name: "constraints", lane: "policy", order: "post" }, (call) =>
        constraints.note(call),
      );
    },
  });
}
