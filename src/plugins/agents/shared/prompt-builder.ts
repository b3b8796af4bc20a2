import type { PromptSection, TaskCall } from "../../../contracts/hooks.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { AgentTemplateName } from "./agent-prompts.js";
import type { Inputs } from "../../../contracts/types.js";
import { Agent } from "../../../contracts/agent.js";

/** Formats a value for a prompt, with `text` as its default form. See `TaskScope.format`. */
type Format = (value: unknown, text: string) => string;
const asItIs: Format = (_, text) => text;

type Texts = PromptTexts<AgentTemplateName>;

const isBlank = (text: string | undefined): boolean => text === undefined || text.trim() === "";

/** Returns the goal and the background of an agent, with its prompt texts filled. */
export function agentTexts(
  agent: Agent,
  inputs: Inputs,
): { readonly goal: string; readonly background: string | undefined } {
  const prompts = Agent.promptsOf(agent);
  return {
    goal: prompts?.goal?.fill(inputs) ?? agent.goal,
    background: prompts?.background?.fill(inputs) ?? agent.background,
  };
}

/**
 * Builds the system message: the description of the agent and the requirements of a final answer.
 * `inputs` fill the prompt texts of the agent.
 */
export function buildSystemPrompt(agent: Agent, texts: Texts, inputs: Inputs = {}): string {
  const { goal, background: known } = agentTexts(agent, inputs);
  const background = isBlank(known) ? "" : texts.render("agent.background", { background: known });
  const responseFormat = isBlank(agent.responseFormat)
    ? ""
    : texts.render("agent.responseFormat", { responseFormat: agent.responseFormat });
  return texts
    .render("agent.system", { role: agent.role, goal, background, responseFormat })
    .trimEnd();
}

/**
 * Builds the user message: the sections of plugins, the earlier tasks, the task, and the JSON
 * Schema of its value. The schema is omitted for a task without one.
 */
export function buildUserPrompt(
  call: TaskCall,
  texts: Texts,
  schemaText?: string,
  format: Format = asItIs,
): string {
  const { task, promptSections: sections } = call;
  const description = texts.render("task.description", {
    description: task.description,
    expectedOutput: task.expectedOutput,
  });
  const outputFormat =
    schemaText === undefined ? "" : texts.render("task.outputFormat", { schema: schemaText });
  const before =
    sections.length === 0
      ? contextOf(call, texts, format) + revisionOf(call, texts)
      : slotsOf(call, texts, format);
  return before + description + outputFormat;
}

function slotsOf(call: TaskCall, texts: Texts, format: Format): string {
  const sections = call.promptSections;
  const shortTerm = slot(sections, "shortTerm");
  return [
    slot(sections, "memory"),
    // The notes of the current run already contain the outputs of the earlier tasks.
    shortTerm === "" ? contextOf(call, texts, format) : shortTerm,
    slot(sections, "context"),
    slot(sections, "longTerm"),
    slot(sections, "entity"),
    slot(sections, "improvement"),
    revisionOf(call, texts),
    slot(sections, "revision"),
  ].join("");
}

/** Returns the sections of a slot. Each section ends with exactly one blank line. */
function slot(sections: readonly PromptSection[], name: PromptSection["slot"]): string {
  let text = "";
  for (const section of sections) {
    if (section.slot === name && !isBlank(section.text))
      text += `${withoutFinalNewlines(section.text)}\n\n`;
  }
  return text;
}

function withoutFinalNewlines(text: string): string {
  let end = text.length;
  while (text[end - 1] === "\n") end--;
  return text.slice(0, end);
}

function contextOf(call: TaskCall, texts: Texts, format: Format): string {
  if (call.contextOutputs.length === 0) return "";
  let outputs = "";
  for (const { agentRole, taskDescription, raw, parsed } of call.contextOutputs)
    outputs += texts.render("task.contextOutput", {
      agentRole,
      taskDescription,
      raw: format(parsed, raw),
    });
  return texts.render("task.context", { outputs });
}

function revisionOf({ revision, attempt }: TaskCall, texts: Texts): string {
  if (revision === undefined || isBlank(revision.feedback)) return "";
  const previousOutput = isBlank(revision.previousOutput)
    ? ""
    : texts.render("task.previousOutput", { previousOutput: revision.previousOutput });
  const counted = attempt > 1 ? texts.render("task.revisionAttempt", { attempt }) : "";
  return texts.render("task.revision", {
    attempt: counted,
    feedback: revision.feedback,
    previousOutput,
  });
}
