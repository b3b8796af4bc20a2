import type { WorkflowExecutor } from "../contracts/executors.js";
import type { Plan, PlannedTask } from "../contracts/plan.js";
import type { Settings } from "./settings.js";
import { ValidationError } from "../contracts/errors.js";
import { isTool } from "../contracts/tool.js";
import { Tokens } from "../contracts/tokens.js";
import { knownNames } from "../contracts/validation.js";

/** Refuses what only the whole of plan, kernel and options shows; nothing has been spent yet. @throws ValidationError */
export function validateRun(plan: Plan, settings: Settings, workflow: WorkflowExecutor): void {
  const shared = settings.all(Tokens.Tool).filter(isTool);
  for (const task of plan.tasks) {
    requireModel(task, settings);
    checkToolNames(task, shared);
  }
  checkPrompts(settings);
  workflow.validate?.(plan);
}

/** Names are resolved here too, so that a misspelt provider costs nothing. */
function requireModel({ spec, agent }: PlannedTask, settings: Settings): void {
  if (spec.handler !== undefined || settings.model(spec, agent) !== undefined) return;
  throw new ValidationError(
    `Task '${spec.description}' has no LLM available. Provide an explicit agent, a task-level chatLanguageModel, an ensemble-level chatLanguageModel, or configure a deterministic handler.`,
    { hint: 'Set `model` on the ensemble, the task or its agent, for instance "openai:gpt-4o-mini", or bind Tokens.ChatModel in the container.' },
  );
}

function checkToolNames({ spec, agent }: PlannedTask, shared: readonly { readonly name: string }[]): void {
  if (spec.handler !== undefined) return;
  const names = new Set<string>();
  for (const tool of [...(agent?.tools ?? spec.tools).filter(isTool), ...shared]) {
    if (names.has(tool.name)) throw new ValidationError(`Duplicate tool name '${tool.name}' for task '${spec.description}'. Tool names must be unique.`);
    names.add(tool.name);
  }
}

/** A replaced prompt must replace something. */
function checkPrompts(settings: Settings): void {
  const { prompts } = settings.options;
  if (prompts === undefined) return;
  const known = settings.all(Tokens.PromptTemplates).flatMap((templates) => ((templates as unknown) === prompts ? [] : Object.keys(templates)));
  for (const name of Object.keys(prompts)) {
    if (!known.includes(name)) throw new ValidationError(`Unknown prompt '${name}'. ${knownNames(name, [...new Set(known)])}`);
  }
}
