import { createHash } from "node:crypto";
import type { Agent } from "../../../contracts/agent.js";
import type { TaskCall } from "../../../contracts/hooks.js";
import type { Text } from "../../../contracts/prompt-text.js";
import type { AnyTask } from "../../../contracts/task.js";
import type { Schemas } from "../../shared/schemas.js";
import { isTool } from "../../../contracts/tool.js";
import { preview } from "../../../contracts/validation.js";
import { canonicalJson } from "../../../util/json/canonical.js";

/** What a task is, part by part: the hash of each, and its beginning for messages. */
export type Definition = Readonly<Record<string, readonly [hash: string, shown: string]>>;

/** How much of a part is kept for messages. */
const SHOWN = 80;

/** The first 16 hexadecimal digits of the SHA-256 of a text. */
export function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** What decides the output of a task. Secrets are taken out before anything is hashed. */
export function definitionOf(call: TaskCall, schemas: Schemas): Definition {
  const { task, agent, contextOutputs, revision, run } = call;
  const { outputType } = task;
  const parts: Record<string, unknown> = {
    description: task.description,
    "expected output": task.expectedOutput,
    agent: agentText(agent),
    attachments: task.attachments.length === 0 ? undefined : task.attachments,
    tools: toolTexts(task, agent, schemas),
    model: modelText(call),
    "output type": outputType === undefined ? undefined : (schemas.find(outputType) ?? "a schema"),
    context: contextOutputs.length === 0 ? undefined : contextOutputs.map(({ raw }) => raw),
    revision,
  };
  const definition: Record<string, readonly [string, string]> = {};
  for (const [name, part] of Object.entries(parts)) {
    if (part === undefined || part === "") continue;
    const text = run.redact(typeof part === "string" ? part : canonicalJson(part));
    definition[name] = [shortHash(text), preview(text, SHOWN)];
  }
  return definition;
}

/** One hash for all parts. */
export function definitionHash(definition: Definition): string {
  return shortHash(
    Object.entries(definition)
      .map(([name, [hash]]) => `${name}:${hash}`)
      .sort()
      .join("\n"),
  );
}

/** The parts that differ, with both sides; empty where none does. */
export function definitionDifference(kept: Definition, now: Definition): string {
  const names = [...new Set([...Object.keys(kept), ...Object.keys(now)])];
  return names
    .filter((name) => kept[name]?.[0] !== now[name]?.[0])
    .map((name) => `${name}: journal ${side(kept[name])}, now ${side(now[name])}`)
    .join("; ");
}

function side(part: Definition[string] | undefined): string {
  return part === undefined ? "nothing" : JSON.stringify(part[1]);
}

function agentText(agent: Agent | undefined): unknown {
  if (agent === undefined) return undefined;
  const { role, goal, background, responseFormat, maxIterations, allowDelegation } = agent;
  return {
    role,
    goal: promptTextOf(goal),
    background: background === undefined ? undefined : promptTextOf(background),
    responseFormat,
    maxIterations,
    allowDelegation,
  };
}

function promptTextOf(text: Text): string {
  return typeof text === "string" ? text : JSON.stringify(text);
}

function toolTexts(task: AnyTask, agent: Agent | undefined, schemas: Schemas): unknown {
  const tools = (agent?.tools ?? task.tools).filter(isTool);
  if (tools.length === 0) return undefined;
  return tools.map(({ name, input }) => [
    name,
    input === undefined ? "text" : (schemas.find(input) ?? "a schema"),
  ]);
}

function modelText({ run, task, agent }: TaskCall): string | undefined {
  if (task.handler !== undefined) return undefined;
  const model = run.modelFor(task, agent);
  return model === undefined ? undefined : `${model.provider}:${model.modelId}`;
}
