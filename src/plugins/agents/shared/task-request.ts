import type { Agent } from "../../../contracts/agent.js";
import type { ChatMessage, ChatRequest, ModelOptions } from "../../../contracts/chat-model.js";
import type { PromptPreview } from "../../../contracts/executors.js";
import type { TaskCall } from "../../../contracts/hooks.js";
import type { TaskScope } from "../../../contracts/run.js";
import { ValidationError } from "../../../contracts/errors.js";
import { partsField } from "../../../contracts/part-summary.js";
import { taskLabel } from "../../../contracts/task-label.js";
import { agentTexts } from "./prompt-builder.js";
import { taskFieldsOf } from "./tool-loop-parts.js";

/** Returns the agent of a task. @throws ValidationError for a task without an agent. */
export function agentOf({ agent, task }: TaskCall): Agent {
  if (agent === undefined)
    throw new ValidationError(`Task '${task.description}' has neither an agent nor a handler`, {
      hint: "Give it an agent, or bind an AgentSynthesizer.",
    });
  return agent;
}

const NO_OPTIONS: ModelOptions = Object.freeze({});

/**
 * Returns the model options of the agent. Each field that the task sets replaces the field of the
 * agent.
 */
export function modelOptionsOf(agent: Agent, { task }: TaskCall): ModelOptions {
  if (task.modelOptions === undefined) return agent.modelOptions ?? NO_OPTIONS;
  const set = Object.entries(task.modelOptions).filter(([, value]) => value !== undefined);
  return { ...agent.modelOptions, ...Object.fromEntries(set) };
}

export function requestOf(
  messages: readonly ChatMessage[],
  { tools }: PromptPreview,
  options: ModelOptions,
  responseFormat: ChatRequest["responseFormat"],
): ChatRequest {
  if (options === NO_OPTIONS && responseFormat === undefined)
    // The common case, which is faster than adding fields to a copy.
    return tools.length > 0 ? { messages, tools } : { messages };
  return {
    ...options,
    messages,
    ...(tools.length > 0 && { tools }),
    ...(responseFormat !== undefined && { responseFormat }),
  };
}

/** Emits the prompts of a task at its start. */
export function announceInput(
  { task }: TaskCall,
  agent: Agent,
  { systemPrompt, userPrompt, tools }: PromptPreview,
  scope: TaskScope,
): void {
  if (!scope.listens("task_input")) return;
  const { goal, background } = agentTexts(agent, scope.run.inputs);
  scope.emit({
    type: "task_input",
    ...taskFieldsOf(scope),
    agentRole: agent.role,
    taskIndex: scope.taskIndex,
    taskDescription: task.description,
    expectedOutput: task.expectedOutput,
    agentGoal: goal,
    agentBackground: background,
    toolNames: tools.map((tool) => tool.name),
    systemPrompt,
    userPrompt,
    ...partsField(task.attachments),
    assembledContext: userPrompt,
  });
}

/** Warns about an answer without text. */
export function warnOfSilence({ task }: TaskCall, agent: Agent, scope: TaskScope): void {
  scope.emit({
    type: "run_warning",
    message: `Agent '${agent.role}' returned empty response for task '${taskLabel(task).slice(0, 80)}'`,
  });
}
