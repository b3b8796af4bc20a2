import type { Inputs } from "../../../contracts/types.js";
import { Agent } from "../../../contracts/agent.js";
import type { ChatMessage, ChatModel, ChatRequest } from "../../../contracts/chat-model.js";
import type { ContentPart } from "../../../contracts/content.js";
import type { ExecutorResult, PromptPreview, TaskExecutor } from "../../../contracts/executors.js";
import type { TaskCall } from "../../../contracts/hooks.js";
import type { PlannedTask } from "../../../contracts/plan.js";
import type { TaskScope } from "../../../contracts/run.js";
import type { AnyTool } from "../../../contracts/tool.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { SchemaFacts } from "../../shared/schemas.js";
import type { NextAgent } from "../shared/tool-loop-parts.js";
import type { AgentTemplateName } from "../shared/agent-prompts.js";
import { ValidationError } from "../../../contracts/errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { buildSystemPrompt, buildUserPrompt } from "../shared/prompt-builder.js";
import { PromptLibrary } from "../../shared/prompts/prompt-library.js";
import { Schemas } from "../../shared/schemas.js";
import { AGENT_TEMPLATES } from "../shared/agent-prompts.js";
import { staticTools, toolsOf, ToolSpecs } from "../shared/tool-resolution.js";
import {
  agentOf,
  announceInput,
  modelOptionsOf,
  requestOf,
  warnOfSilence,
} from "../shared/task-request.js";
import { ToolLoop } from "../shared/tool-loop.js";
import { Transfers } from "../shared/transfers.js";
import { parseWithCorrections } from "./correction.js";

/** The parts of a prompt. */
interface PromptParts {
  readonly call: TaskCall;
  readonly agent: Agent;
  readonly texts: PromptTexts<AgentTemplateName>;
  readonly tools: readonly AnyTool[];
  readonly facts: SchemaFacts | undefined;
  readonly format?: TaskScope["format"];
}

type LookUps = Pick<TaskScope, "get" | "all" | "model" | "workers">;

/**
 * Executes tasks of agents in a conversation in which the model calls tools until it answers. Its
 * only state is a cache of converted schemas and merged texts.
 */
export class ReactExecutor implements TaskExecutor {
  readonly name = "react";
  readonly #library = new PromptLibrary(AGENT_TEMPLATES);
  readonly #schemas = new Schemas();
  readonly #specs = new ToolSpecs(this.#schemas);
  readonly #systemPrompts = new WeakMap<PromptTexts<AgentTemplateName>, WeakMap<Agent, string>>();

  handles(task: PlannedTask): boolean {
    return task.task.handler === undefined;
  }

  async execute(call: TaskCall, scope: TaskScope): Promise<ExecutorResult> {
    const agent = agentOf(call);
    const texts = this.#library.textsOf(scope.all(Tokens.PromptTemplates), scope.run);
    const facts = this.#outputFacts(call);
    const transfers = Transfers.of(agent, texts, scope.run.options);
    const resolved = toolsOf(agent, call, scope, transfers?.toolsOf(agent));
    const tools = resolved instanceof Promise ? await resolved : resolved;
    const format: TaskScope["format"] = (value, text) => scope.format(value, text);
    const clock = scope.get(Tokens.Clock);
    const startedMs = clock.monotonicMs();
    const first = this.#prompt({ call, agent, texts, tools, facts, format });
    scope.recordMetrics({ promptBuildMs: clock.monotonicMs() - startedMs });
    announceInput(call, agent, first, scope);
    const user: ChatMessage = {
      role: "user",
      content: withAttachments(first.userPrompt, call.task.attachments),
    };
    const messages: ChatMessage[] = [{ role: "system", content: first.systemPrompt }, user];
    const request = requestOf(
      messages,
      first,
      modelOptionsOf(agent, call),
      responseFormatOf(facts, scope.model),
    );
    const prepare = async (next: Agent): Promise<NextAgent> => {
      const own = await toolsOf(next, { ...call, agent: next }, scope, transfers?.toolsOf(next));
      const content = this.#systemPrompt(next, texts, call.run.inputs);
      const preview = { ...first, systemPrompt: content, tools: this.#specs.of(own, texts) };
      return {
        tools: own,
        head: [{ role: "system", content }, user],
        requestFor: (all) =>
          requestOf(all, preview, modelOptionsOf(next, call), responseFormatOf(facts, scope.model)),
      };
    };
    const parts = { call, agent, scope, texts, tools, messages, request };
    const loop = new ToolLoop(transfers === undefined ? parts : { ...parts, transfers, prepare });
    const response = await loop.answer();
    const text = response.message.content;
    const isBlank = text.trim() === "";
    if (isBlank) warnOfSilence(call, loop.parts.agent, scope);
    if (facts === undefined || call.task.outputType === undefined)
      return { raw: isBlank ? "" : text, toolCallCount: loop.toolCallsMade };
    const { raw, parsed } = await parseWithCorrections(loop, response, call.task.outputType, facts);
    return { raw, parsed, toolCallCount: loop.toolCallsMade };
  }

  /**
   * Returns the prompt of the first call without the tools of dynamic providers. These tools are
   * known only when the task starts.
   */
  async preview(call: TaskCall, scope: LookUps): Promise<PromptPreview> {
    const agent = agentOf(call);
    const texts = this.#library.textsOf(scope.all(Tokens.PromptTemplates), call.run);
    const sourced = await Promise.all(
      scope.all(Tokens.AgentToolSource).map(async (source) => source.toolsFor(call, scope)),
    );
    const tools = [
      ...(Transfers.of(agent, texts, {})?.toolsOf(agent) ?? []),
      ...sourced.flat(),
      ...staticTools(agent.tools, scope.all(Tokens.Tool)),
    ];
    return this.#prompt({ call, agent, texts, tools, facts: this.#outputFacts(call) });
  }

  #prompt({ call, agent, texts, tools, facts, format }: PromptParts): PromptPreview {
    return {
      systemPrompt: this.#systemPrompt(agent, texts, call.run.inputs),
      userPrompt: buildUserPrompt(call, texts, facts?.text, format),
      tools: this.#specs.of(tools, texts),
    };
  }

  /**
   * Returns one shared string for all tasks of an agent. System prompts are most of the prompt text
   * that a run keeps.
   */
  #systemPrompt(agent: Agent, texts: PromptTexts<AgentTemplateName>, inputs: Inputs): string {
    // The texts differ from run to run.
    if (Agent.promptsOf(agent) !== undefined) return buildSystemPrompt(agent, texts, inputs);
    let known = this.#systemPrompts.get(texts);
    if (known === undefined) this.#systemPrompts.set(texts, (known = new WeakMap()));
    let prompt = known.get(agent);
    if (prompt === undefined) known.set(agent, (prompt = buildSystemPrompt(agent, texts)));
    return prompt;
  }

  #outputFacts({ task }: TaskCall): SchemaFacts | undefined {
    if (task.outputType === undefined) return undefined;
    return this.#schemas.of(
      task.outputType,
      (problem, cause) =>
        new ValidationError(
          `The outputType of task '${task.description}' could not be converted to JSON Schema: ${problem}`,
          { cause },
        ),
    );
  }
}

function withAttachments(
  text: string,
  attachments: readonly ContentPart[],
): string | readonly ContentPart[] {
  return attachments.length === 0 ? text : [{ type: "text", text }, ...attachments];
}

/** Returns the response format for a model with structured output, otherwise `undefined`. */
function responseFormatOf(
  facts: SchemaFacts | undefined,
  { capabilities }: ChatModel,
): ChatRequest["responseFormat"] {
  return facts?.rootType === "object" && capabilities?.structuredOutput === true
    ? { name: formatNameOf(facts.title), schema: facts.jsonSchema }
    : undefined;
}

/** Replaces all characters except letters, digits, `_` and `-`. Vendors accept no others. */
function formatNameOf(title: string): string {
  return title.replace(/[^\w-]+/g, "_").slice(0, 64);
}
