import { hash } from "node:crypto";
import type { Agent } from "../../../contracts/agent.js";
import type { TaskCall } from "../../../contracts/hooks.js";
import type { Text } from "../../../contracts/prompt-text.js";
import type { AnyTask } from "../../../contracts/task.js";
import type { Schemas } from "../../shared/schemas.js";
import { PartDigests } from "../../shared/part-digests.js";
import { isTool } from "../../../contracts/tool.js";
import { preview } from "../../../contracts/validation.js";
import { canonicalJson } from "../../../util/json/canonical.js";

/** The definition of a task by part. Each part has its hash, and its beginning for messages. */
export type Definition = Readonly<Record<string, readonly [hash: string, shown: string]>>;

/** Number of characters of a part that are kept for messages. */
const SHOWN = 80;

/** The first 16 hexadecimal digits of the SHA-256 of a text. */
export function shortHash(text: string): string {
  return hash("sha256", text, "hex").slice(0, 16);
}

/** A part of the definition of a task: its name, its hash and its text. */
export type DefinitionPart = readonly [name: string, hash: string, text: string];

/** The text of a part without secrets, and its hash. */
type KnownText = readonly [hash: string, text: string];

/** Parts that are often the same in many tasks. */
export const SHARED_PARTS: ReadonlySet<string> = new Set([
  "expected output",
  "agent",
  "tools",
  "model",
  "output type",
]);
const MOST_KNOWN = 1_000;

/** The definitions of the tasks of one run. Texts that many tasks share are hashed once. */
export class Definitions {
  readonly #schemas: Schemas;
  readonly #known = new Map<string, KnownText>();

  constructor(schemas: Schemas) {
    this.#schemas = schemas;
  }

  /** Returns the parts that determine the output of a task. Secrets are removed before hashing. */
  partsOf(call: TaskCall): readonly DefinitionPart[] {
    const parts = partTexts(call, this.#schemas);
    const found: DefinitionPart[] = [];
    for (const name in parts) {
      const part = parts[name];
      if (part === undefined || part === "") continue;
      const text = typeof part === "string" ? part : canonicalJson(part);
      const [hash, shown] = SHARED_PARTS.has(name)
        ? this.#shared(text, call)
        : hashedPart(text, call);
      found.push([name, hash, shown]);
    }
    return found;
  }

  #shared(text: string, call: TaskCall): KnownText {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const made = hashedPart(text, call);
    if (this.#known.size < MOST_KNOWN) this.#known.set(text, made);
    return made;
  }
}

function hashedPart(text: string, { run }: TaskCall): KnownText {
  const shown = run.redact(text);
  return [shortHash(shown), shown];
}

function partTexts(call: TaskCall, schemas: Schemas): Readonly<Record<string, unknown>> {
  const { task, agent, contextOutputs, revision } = call;
  const { outputType } = task;
  return {
    description: task.description,
    "expected output": task.expectedOutput,
    agent: agentText(agent),
    attachments:
      task.attachments.length === 0
        ? undefined
        : new PartDigests().withoutContent({ role: "user", content: task.attachments }).content,
    tools: toolTexts(task, agent, schemas),
    model: modelText(call),
    "output type": outputType === undefined ? undefined : (schemas.find(outputType) ?? "a schema"),
    context: contextOutputs.length === 0 ? undefined : contextOutputs.map(({ raw }) => raw),
    revision,
  };
}

/** Returns the parts in their stored form. */
export function definitionOf(parts: readonly DefinitionPart[]): Definition {
  return Object.fromEntries(
    parts.map(([name, partHash, text]) => [name, [partHash, preview(text, SHOWN)]]),
  );
}

/** Returns one hash of all parts. */
export function definitionHash(parts: readonly DefinitionPart[]): string {
  return shortHash(
    parts
      .map(([name, partHash]) => `${name}:${partHash}`)
      .sort()
      .join("\n"),
  );
}

/** Returns whether a kept definition has these parts. Does not compute a common hash. */
export function isDefinedAs(kept: Definition, parts: readonly DefinitionPart[]): boolean {
  return (
    Object.keys(kept).length === parts.length &&
    parts.every(([name, partHash]) => kept[name]?.[0] === partHash)
  );
}

/** Returns the parts that differ, with both values. Empty if there is no difference. */
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
