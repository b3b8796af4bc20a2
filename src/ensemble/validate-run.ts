import type { WorkflowExecutor } from "../contracts/executors.js";
import type { Plan, PlannedTask } from "../contracts/plan.js";
import type { ChatModel } from "../contracts/chat-model.js";
import type { Settings } from "../engine/plan/settings.js";
import type { AnyTask } from "../contracts/task.js";
import { withoutModel } from "./task-entries.js";
import { requireCarried, type PartAdvice } from "../contracts/part-support.js";
import { checkCostConfiguration } from "../contracts/cost.js";
import { requireReasoning } from "../contracts/reasoning.js";
import { ValidationError } from "../contracts/errors.js";
import { withSuccessors } from "../contracts/handoff.js";
import { isTool } from "../contracts/tool.js";
import { Tokens } from "../contracts/tokens.js";
import { knownNames } from "../contracts/validation.js";
import { taskLabel } from "../contracts/task-label.js";

/**
 * Refuses mistakes that can be detected only from plan, kernel and options together, before the run
 * causes costs.
 *
 * @throws ValidationError
 */
export function validateRun(plan: Plan, settings: Settings, workflow: WorkflowExecutor): void {
  if (
    settings.options.rateLimit !== undefined &&
    settings.options.model === undefined &&
    settings.find(Tokens.ChatModel) === undefined
  ) {
    throw new ValidationError(
      "Ensemble rateLimit needs a model of the ensemble, and there is none. Set `model` on the ensemble, or bind Tokens.ChatModel.",
    );
  }
  const shared = settings.all(Tokens.Tool).filter(isTool);
  const led = isLed(plan, workflow);
  for (const planned of plan.tasks)
    for (const task of withEachAgent(planned)) {
      if (!led || task.agent !== undefined) requireModel(task, settings);
      checkToolNames(task, shared);
    }
  checkPrompts(settings);
  // The constructor checked only the option.
  checkCostConfiguration("Tokens.CostConfiguration", settings.find(Tokens.CostConfiguration));
  workflow.validate?.(plan);
}

/**
 * Returns whether a manager selects the worker of a task without an agent. The workflow then checks
 * the worker's model.
 */
function isLed(plan: Plan, workflow: WorkflowExecutor): boolean {
  const { agents = [] } = plan.options;
  return agents.length > 0 && workflow.describe?.(plan).managed === true;
}

/** Also resolves the name of the model: a misspelt provider then causes no costs. */
function requireModel(planned: PlannedTask, settings: Settings): void {
  const { task, agent } = planned;
  const { reflect }: AnyTask = task;
  if (typeof reflect === "object" && reflect.model !== undefined) settings.resolve(reflect.model);
  if (task.handler !== undefined) return;
  const model = settings.model(task, agent);
  if (model !== undefined) {
    requireReasoning(taskLabel(task), { ...agent?.modelOptions, ...task.modelOptions }, model);
    if (task.attachments.length > 0) {
      const carried = { attachments: task.attachments, description: taskLabel(task) };
      requireCarried(carried, model, adviceFor(model, settings));
    }
    return;
  }
  throw new ValidationError(withoutModel(planned), {
    hint: 'Set `model` on the ensemble, the task or its agent, for instance "openai:gpt-5-mini", or bind Tokens.ChatModel in the container.',
  });
}

/** Yields the task with its agent, then with each agent that may take over from it. */
export function withEachAgent(planned: PlannedTask): readonly PlannedTask[] {
  if (planned.agent?.handoffs === undefined) return [planned];
  return [...withSuccessors([planned.agent])].map((agent) => ({ ...planned, agent }));
}

function adviceFor(model: ChatModel, settings: Settings): PartAdvice {
  return {
    providers: settings.all(Tokens.ChatModelProvider),
    alternatives: settings.find(Tokens.RetryPolicy)?.alternatives?.(model) ?? [],
  };
}

function checkToolNames(
  { task, agent }: PlannedTask,
  shared: readonly { readonly name: string }[],
): void {
  if (task.handler !== undefined) return;
  const names = new Set<string>();
  for (const tool of [...(agent?.tools ?? task.tools).filter(isTool), ...shared]) {
    if (names.has(tool.name))
      throw new ValidationError(
        `Duplicate tool name '${tool.name}' for task '${task.description}'. Tool names must be unique.`,
      );
    names.add(tool.name);
  }
}

/** Refuses a prompt that overrides no existing text. */
function checkPrompts(settings: Settings): void {
  const { prompts } = settings.options;
  if (prompts === undefined) return;
  const known = settings
    .all(Tokens.PromptTemplates)
    .flatMap((templates) => ((templates as unknown) === prompts ? [] : Object.keys(templates)));
  for (const name of Object.keys(prompts)) {
    if (!known.includes(name))
      throw new ValidationError(
        `Unknown prompt '${name}'. ${knownNames(name, [...new Set(known)])}`,
      );
  }
}
