import type { ChatModel } from "../contracts/chat-model.js";
import type { WorkflowExecutor } from "../contracts/executors.js";
import type { Plan } from "../contracts/plan.js";
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
  const check = settings.find(Tokens.ModelCheck);
  visitModels(plan, settings, workflow, (model, caller) => requireUsable(caller, model, check));
}

/** Reports an error for each model of a plan that can't be called. */
export function reportModelProblems(
  plan: Plan,
  settings: Settings,
  workflow: WorkflowExecutor,
  report: (error: unknown) => void,
): void {
  const check = settings.find(Tokens.ModelCheck);
  visitModels(plan, settings, workflow, (model, caller) => {
    try {
      requireUsable(caller, model, check);
    } catch (error) {
      report(error);
    }
  });
}

/** Calls `visit` once for each model of a plan, with the first task or agent that would call it. */
function visitModels(
  plan: Plan,
  settings: Settings,
  workflow: WorkflowExecutor,
  visit: (model: ChatModel, caller: string) => void,
): void {
  const visited = new Set<ChatModel>();
  const meet = (model: ChatModel | undefined, caller: string): void => {
    if (model === undefined || visited.has(model)) return;
    visited.add(model);
    visit(model, caller);
  };
  const { managerModel, agents = [] } = plan.options;
  if (workflow.reads?.includes("managerModel") ?? managerModel !== undefined)
    meet(settings.model(undefined, { model: managerModel }), "The manager");
  for (const planned of plan.tasks)
    for (const { task, agent } of withEachAgent(planned)) {
      const name = `'${task.name ?? task.description}'`;
      const { handler, reflect }: AnyTask = task;
      if (handler === undefined) meet(settings.model(task, agent), `Task ${name}`);
      if (typeof reflect === "object" && reflect.model !== undefined)
        meet(settings.resolve(reflect.model), `The reflection of task ${name}`);
    }
  for (const agent of agents) meet(settings.model(undefined, agent), `Agent '${agent.role}'`);
}
