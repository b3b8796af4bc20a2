import type { ChatModel } from "../contracts/chat-model.js";
import type { WorkflowExecutor } from "../contracts/executors.js";
import type { Plan, PlannedTask } from "../contracts/plan.js";
import type { AnyTask } from "../contracts/task.js";
import type { Settings } from "../engine/plan/settings.js";
import { requireUsable } from "../contracts/model-check.js";
import { withEachAgent } from "./validate-run.js";
import { Tokens } from "../contracts/tokens.js";

/**
 * Checks each model of a plan once. A missing key is therefore found before any cost arises.
 *
 * @throws ValidationError naming the task or agent that would call the model.
 */
export function checkModels(plan: Plan, settings: Settings, workflow: WorkflowExecutor): void {
  for (const error of modelProblems(plan, settings, workflow)) throw error;
}

/** Yields an error for each model of a plan that can't be called. */
export function* modelProblems(
  plan: Plan,
  settings: Settings,
  workflow: WorkflowExecutor,
): Generator<unknown> {
  const check = settings.find(Tokens.ModelCheck);
  const checked = new Set<ChatModel>();
  for (const [who, model] of modelsOf(plan, settings, workflow)) {
    if (model === undefined || checked.has(model)) continue;
    checked.add(model);
    try {
      requireUsable(who, model, check);
    } catch (error) {
      yield error;
    }
  }
}

/** Yields the models of a plan, with their callers. */
function* modelsOf(
  plan: Plan,
  settings: Settings,
  workflow: WorkflowExecutor,
): Generator<readonly [string, ChatModel | undefined]> {
  const { managerModel, agents = [] } = plan.options;
  if (workflow.reads?.includes("managerModel") ?? managerModel !== undefined)
    yield ["The manager", settings.model(undefined, { model: managerModel })];
  for (const planned of plan.tasks)
    for (const task of withEachAgent(planned)) yield* modelsOfTask(task, settings);
  for (const agent of agents) yield [`Agent '${agent.role}'`, settings.model(undefined, agent)];
}

function* modelsOfTask(
  { task, agent }: PlannedTask,
  settings: Settings,
): Generator<readonly [string, ChatModel | undefined]> {
  const name = `'${task.name ?? task.description}'`;
  if (task.handler === undefined) yield [`Task ${name}`, settings.model(task, agent)];
  const { reflect }: AnyTask = task;
  if (typeof reflect === "object" && reflect.model !== undefined)
    yield [`The reflection of task ${name}`, settings.resolve(reflect.model)];
}
