import type { WorkflowExecutor } from "../contracts/executors.js";
import { GraphWorkflow } from "../plugins/workflows/graph/graph-workflow.js";
import { HierarchicalWorkflow } from "../plugins/workflows/hierarchical/hierarchical-workflow.js";
import { ManagerExecutor } from "../plugins/workflows/hierarchical/manager-executor.js";
import { RunConstraints } from "../plugins/workflows/hierarchical/run-constraints.js";
import { parallelWorkflow } from "../plugins/workflows/parallel/parallel-workflow.js";
import { phasesWorkflow } from "../plugins/workflows/phases/phases-workflow.js";
import { sequentialWorkflow } from "../plugins/workflows/sequential/sequential-workflow.js";

/**
 * Returns the workflows with a separate description of a plan. A diagram has no kernel that could
 * provide other workflows.
 */
export function builtInWorkflows(): readonly WorkflowExecutor[] {
  return [
    sequentialWorkflow,
    parallelWorkflow,
    phasesWorkflow,
    new GraphWorkflow(),
    new HierarchicalWorkflow(new ManagerExecutor(), new RunConstraints()),
  ];
}
