import type { WorkflowExecutor } from "../../../contracts/executors.js";
import { checkPhases } from "./phase-plan.js";
import { PhasesRun } from "./phases-run.js";

export const phasesWorkflow: WorkflowExecutor = Object.freeze({
  name: "PHASES",
  validate: checkPhases,
  execute: (plan, run) => new PhasesRun(plan, run).execute(),
} satisfies WorkflowExecutor);
