import type { WorkflowExecutor } from "../../../contracts/executors.js";
import type { TaskOutput, WorkflowResult } from "../../../contracts/output.js";
import type { Plan } from "../../../contracts/plan.js";
import type { PlanDescription } from "../../../contracts/plan-description.js";
import type { Run } from "../../../contracts/run.js";
import type { RunInfo } from "../../../contracts/run-info.js";
import type { AnyTool } from "../../../contracts/tool.js";
import type { ManagerExecutor } from "./manager-executor.js";
import type { RunConstraints } from "./run-constraints.js";
import { Agent } from "../../../contracts/agent.js";
import { TaskExecutionError } from "../../../contracts/errors.js";
import { ConstraintViolationError } from "../../../contracts/workflow-errors.js";
import { Task } from "../../../contracts/task.js";
import { Tokens } from "../../../contracts/tokens.js";
import { PromptLibrary } from "../../shared/prompts/prompt-library.js";
import { describeTasks } from "../shared/describe-tasks.js";
import { Assignments } from "./assignments.js";
import { ConstraintEnforcer } from "./constraint-enforcer.js";
import { checkConstraints } from "./constraint-validation.js";
import { delegateTaskTool } from "./delegate-task-tool.js";
import { findBound, managerModel } from "./manager-model.js";
import { managerPrompts } from "./manager-prompts.js";
import {
  checkReserved,
  MANAGER_ROLE,
  needsAgents,
  unusedManagerOptions,
  validateTeam,
} from "./team-validation.js";
import { MANAGER_TEMPLATES } from "./hierarchical-prompts.js";
import { messageOf } from "../../../util/errors.js";

const DEFAULT_MAX_ITERATIONS = 20;

/**
 * The workflow HIERARCHICAL: a separate agent, the manager, delegates the tasks to workers and
 * writes the final answer.
 */
export class HierarchicalWorkflow implements WorkflowExecutor {
  readonly name = "HIERARCHICAL";
  readonly reads = [
    "managerModel",
    "managerModelOptions",
    "managerMaxIterations",
    "managerPromptStrategy",
    "hierarchicalConstraints",
  ] as const;
  readonly #executor: ManagerExecutor;
  readonly #constraints: RunConstraints;
  readonly #library = new PromptLibrary(MANAGER_TEMPLATES);

  constructor(executor: ManagerExecutor, constraints: RunConstraints) {
    this.#executor = executor;
    this.#constraints = constraints;
  }

  validate(plan: Plan): void {
    validateTeam(plan);
  }

  describe(plan: Plan): PlanDescription {
    return { ...describeTasks(plan), managed: true };
  }

  preview(plan: Plan, run: Run): readonly Task[] {
    return [this.#managerTask(plan, run, new Assignments(plan.tasks), () => undefined)];
  }

  async execute(plan: Plan, run: Run): Promise<WorkflowResult> {
    if (needsAgents(plan)) for (const { id } of plan.tasks) await run.agentOf(id);
    let enforcer = enforcerOf(run);
    const assignments = new Assignments(plan.tasks);
    const manager = this.#managerTask(plan, run, assignments, (info) => {
      if (enforcer !== undefined) enforcer = this.#constraints.enforce(info, enforcer);
    });
    for (const message of unusedManagerOptions(plan)) run.emit({ type: "run_warning", message });
    this.#executor.claim(manager);
    const unmet = (): ConstraintViolationError | undefined => {
      const violations = enforcer?.violations() ?? [];
      return violations.length === 0
        ? undefined
        : new ConstraintViolationError(violations, assignments.outputs);
    };
    this.#constraints.requireOf(manager, unmet);
    const output = await lead(run, run.define(manager), assignments);
    // checked again, because a recorded or supplied answer passes no policies
    const error = unmet();
    if (error !== undefined) throw error;
    return { raw: output.raw, taskOutputs: [...assignments.outputs, output] };
  }

  /**
   * Returns the task of the run's manager. `onStart` is called before the first delegation.
   * @throws ValidationError for an invalid team
   */
  #managerTask(
    plan: Plan,
    run: Run,
    assignments: Assignments,
    onStart: (run: RunInfo) => void,
  ): Task {
    const { managerPromptStrategy, managerMaxIterations, managerModelOptions } = plan.options;
    const { workers } = run;
    checkReserved(workers); // checked again, including created agents
    const texts = this.#library.textsOf(run.all(Tokens.PromptTemplates), run);
    const listed = plan.tasks.map(({ task }) => task);
    const prompts = managerPrompts(managerPromptStrategy, workers, listed, texts);
    const tool: AnyTool = delegateTaskTool({
      roles: workers.map(({ role }) => role),
      assignments,
      texts,
      onStart,
    });
    const agent = new Agent({
      role: MANAGER_ROLE,
      goal: texts.render("manager.goal", {}),
      background: prompts.system,
      model: managerModel(plan, run),
      modelOptions: managerModelOptions,
      maxIterations: managerMaxIterations ?? DEFAULT_MAX_ITERATIONS,
      tools: [tool],
    });
    return new Task({
      description: prompts.user,
      expectedOutput: texts.render("manager.expectedOutput", {}),
      agent,
    });
  }
}

/**
 * Returns the enforcer of the run's constraints, if there are any. Validates them again, because
 * all agents now exist and constraints may come from a binding.
 */
function enforcerOf(run: Run): ConstraintEnforcer | undefined {
  const constraints = findBound(run, Tokens.HierarchicalConstraints);
  if (constraints === undefined) return undefined;
  checkConstraints(
    constraints,
    run.workers.map(({ role }) => role),
  );
  return new ConstraintEnforcer(constraints);
}

/**
 * Runs the manager.
 * @throws TaskExecutionError with the finished delegations if the manager fails; the reason of the
 * run if it was stopped
 */
async function lead(run: Run, managerId: string, assignments: Assignments): Promise<TaskOutput> {
  try {
    return await run.runTask(managerId, { last: run.last });
  } catch (error) {
    if (!TaskExecutionError.isInstance(error)) throw error;
    const { taskDescription, agentRole, cause = error, hint } = error;
    if (ConstraintViolationError.isInstance(cause)) throw cause;
    const context = { taskDescription, agentRole, completedTaskOutputs: assignments.outputs };
    throw new TaskExecutionError(
      `Hierarchical workflow manager failed: ${messageOf(cause)}`,
      context,
      { cause, hint },
    );
  }
}
