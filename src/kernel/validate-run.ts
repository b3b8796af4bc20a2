import type { WorkflowExecutor } from "../contracts/executors.js";
import type { Plan, PlannedTask } from "../contracts/plan.js";
import type { Settings } from "./settings.js";
import type { AnyTask } from "../contracts/task.js";
import { checkCostConfiguration } from "../contracts/cost.js";
import { ValidationError } from "../contracts/errors.js";
import { Graph } from "../contracts/graph.js";
import { Loop } from "../contracts/loop.js";
import { Phase } from "../contracts/phase.js";
import { isTool } from "../contracts/tool.js";
import { Tokens } from "../contracts/tokens.js";
import { knownNames } from "../contracts/validation.js";

/** Refuses what only the whole of plan, kernel and options shows; nothing has been spent yet. @throws ValidationError */
export function validateRun(plan: Plan, settings: Settings, workflow: WorkflowExecutor): void {
  if (
    settings.options.rateLimit !== undefined &&
    settings.options.model === undefined &&
    settings.find(Tokens.ChatModel) === undefined
  ) {
    throw new ValidationError(
      "Ensemble rateLimit is configured but chatLanguageModel is null. An ensemble-level chatLanguageModel is required when rateLimit is set.",
    );
  }
  const shared = settings.all(Tokens.Tool).filter(isTool);
  for (const task of plan.tasks) {
    requireModel(task, settings);
    checkToolNames(task, shared);
  }
  checkPrompts(settings);
  checkCostConfiguration("Tokens.CostConfiguration", settings.find(Tokens.CostConfiguration)); // the ensemble's was checked, what is bound was not
  workflow.validate?.(plan);
}

/** Names are resolved here too, so that a misspelt provider costs nothing. */
function requireModel({ spec, agent, group, id }: PlannedTask, settings: Settings): void {
  const { reflect }: AnyTask = spec;
  if (typeof reflect === "object" && reflect.model !== undefined) settings.resolve(reflect.model);
  if (spec.handler !== undefined || settings.model(spec, agent) !== undefined) return;
  throw new ValidationError(withoutModel(spec, group, id), {
    hint: 'Set `model` on the ensemble, the task or its agent, for instance "openai:gpt-4o-mini", or bind Tokens.ChatModel in the container.',
  });
}

function withoutModel(spec: AnyTask, group: PlannedTask["group"], id: string): string {
  const advice =
    "Set chatLanguageModel on the task, the ensemble, or provide an explicit agent or handler.";
  if (group instanceof Loop)
    return `Loop '${group.name}' body task '${spec.name ?? spec.description}' has no LLM source. ${advice}`;
  if (group instanceof Graph)
    return `Graph '${group.name}' state '${id.slice(group.name.length + 1)}' Task has no LLM source. ${advice}`;
  const place = group instanceof Phase ? ` in phase '${group.name}'` : "";
  return `Task '${spec.description}'${place} has no LLM available. Provide an explicit agent, a task-level chatLanguageModel, an ensemble-level chatLanguageModel, or configure a deterministic handler.`;
}

function checkToolNames(
  { spec, agent }: PlannedTask,
  shared: readonly { readonly name: string }[],
): void {
  if (spec.handler !== undefined) return;
  const names = new Set<string>();
  for (const tool of [...(agent?.tools ?? spec.tools).filter(isTool), ...shared]) {
    if (names.has(tool.name))
      throw new ValidationError(
        `Duplicate tool name '${tool.name}' for task '${spec.description}'. Tool names must be unique.`,
      );
    names.add(tool.name);
  }
}

/** A replaced prompt must replace something. */
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
