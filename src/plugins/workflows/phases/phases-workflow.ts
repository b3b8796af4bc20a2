import type { WorkflowExecutor } from "../../../contracts/executors.js";
import { PARALLEL_OPTIONS } from "../shared/parallel-options.js";
import { describePhases } from "./describe-phases.js";
import { checkPhases } from "./phase-plan.js";
import { PhasesRun } from "./phases-run.js";

export const phasesWorkflow: WorkflowExecutor = Object.freeze({
  name: "PHASES",
  reads: PARALLEL_OPTIONS,
  validate: checkPhases,
  describe: describePhases,
  execute: (plan, run) => new PhasesRun(plan, run).execute(),
} satisfies WorkflowExecutor);
