import type { Agent } from "../../../contracts/agent.js";
import type { ToolSpec } from "../../../contracts/chat-model.js";
import type { AgentToolSource } from "../../../contracts/executors.js";
import type { TaskCall } from "../../../contracts/hooks.js";
import type { TaskScope } from "../../../contracts/run.js";
import type { AnyTool, ToolLike } from "../../../contracts/tool.js";
import type { JsonSchema } from "../../../contracts/types.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { Schemas } from "../../shared/schemas.js";
import type { AgentTemplateName } from "./agent-prompts.js";
import { AgentEnsembleError, ToolConfigurationError } from "../../../contracts/errors.js";
import { isTool, isToolProvider, TOOL_NAME } from "../../../contracts/tool.js";
import { Tokens } from "../../../contracts/tokens.js";
import { preview } from "../../../contracts/validation.js";
import { messageOf, toError } from "../../../util/errors.js";

const NONE: readonly AnyTool[] = Object.freeze([]);

/**
 * Returns the tools of an agent and of the container, without providers. A tool that both list is
 * returned once.
 */
export function staticTools(
  own: readonly ToolLike[],
  shared: readonly ToolLike[],
): readonly AnyTool[] {
  if (own.length === 0 && shared.length === 0) return NONE;
  return [...new Set([...own, ...shared])].filter(isTool);
}

/**
 * Returns the tools of an agent for one task. Transfers and the tools of sources come first, then
 * the tools of the agent, then those of the container. Providers are expanded in place. Returns the
 * tools without a promise if there is no source and no provider. This is the case for most tasks of
 * a large run.
 * @throws ToolConfigurationError when a source or a provider fails or returns something other than
 * tools, or when two tools have the same name.
 */
export function toolsOf(
  agent: Agent,
  call: TaskCall,
  scope: TaskScope,
  transfers: readonly AnyTool[] = NONE,
): readonly AnyTool[] | Promise<readonly AnyTool[]> {
  const shared = scope.all(Tokens.Tool);
  const sourced = scope
    .all(Tokens.AgentToolSource)
    .map((source) => fromSource(source, call, scope));
  const none =
    transfers.length === 0 &&
    agent.tools.length === 0 &&
    shared.length === 0 &&
    sourced.every((tools) => tools === NONE);
  return none ? NONE : resolveTools(agent.tools, shared, [transfers, ...sourced], scope);
}

/** Calls a source. Distinguishes a direct result from a promise. */
function fromSource(
  source: AgentToolSource,
  call: TaskCall,
  scope: TaskScope,
): readonly AnyTool[] | Promise<readonly AnyTool[]> {
  let answer: unknown;
  try {
    answer = source.toolsFor(call, scope);
  } catch (error) {
    return toolsFrom("A source of agent tools", () => Promise.reject(toError(error)));
  }
  return Array.isArray(answer) && answer.length === 0
    ? NONE
    : toolsFrom("A source of agent tools", () => answer);
}

async function resolveTools(
  own: readonly ToolLike[],
  shared: readonly ToolLike[],
  sourced: readonly (readonly AnyTool[] | Promise<readonly AnyTool[]>)[],
  scope: TaskScope,
): Promise<readonly AnyTool[]> {
  const first = (await Promise.all(sourced.map((tools) => Promise.resolve(tools)))).flat();
  const byName = new Map<string, AnyTool>();
  for (const entry of new Set([...first, ...own, ...shared])) {
    for (const tool of isToolProvider(entry)
      ? await toolsFrom("A dynamic tool provider", () => entry.resolve(scope))
      : [entry]) {
      const twin = byName.get(tool.name);
      if (twin !== undefined && twin !== tool) {
        throw new ToolConfigurationError(
          `Duplicate tool name '${tool.name}'. Tool names must be unique within an agent.`,
          {
            hint: "Rename one of the two, or leave one out; a dynamic provider may have brought it.",
          },
        );
      }
      byName.set(tool.name, tool);
    }
  }
  return [...byName.values()];
}

/** Returns the tools that user code provides. */
async function toolsFrom(who: string, resolve: () => unknown): Promise<readonly AnyTool[]> {
  let tools: unknown;
  try {
    tools = await resolve();
  } catch (error) {
    if (AgentEnsembleError.isInstance(error)) throw error;
    throw new ToolConfigurationError(`${who} could not resolve its tools: ${messageOf(error)}`, {
      cause: error,
    });
  }
  if (!Array.isArray(tools))
    throw new ToolConfigurationError(
      `${who} must resolve to an array of tools, got: ${preview(tools)}`,
    );
  return tools.map((tool: unknown, index) => {
    if (isTool(tool) && TOOL_NAME.test(tool.name)) return tool;
    if (isTool(tool))
      throw new ToolConfigurationError(
        `${who} resolved to a tool whose name is not 1 to 64 letters, digits, '_' and '-': ${preview(tool.name)}`,
      );
    throw new ToolConfigurationError(
      `${who} resolved to something else than a tool at index ${index}: ${preview(tool)}`,
    );
  });
}

/** Describes tools for a model. Each schema is converted once for all tasks. */
export class ToolSpecs {
  readonly #schemas: Schemas;
  readonly #plain = new WeakMap<PromptTexts<AgentTemplateName>, JsonSchema>();

  constructor(schemas: Schemas) {
    this.#schemas = schemas;
  }

  /**
   * Describes the tools.
   * @throws ToolConfigurationError for an input schema that has no JSON Schema or does not describe
   * an object.
   */
  of(tools: readonly AnyTool[], texts: PromptTexts<AgentTemplateName>): readonly ToolSpec[] {
    return tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      parameters: this.#parametersOf(tool, texts),
    }));
  }

  #parametersOf(tool: AnyTool, texts: PromptTexts<AgentTemplateName>): JsonSchema {
    if (tool.input === undefined) return this.#plainParameters(texts);
    const { jsonSchema, rootType } = this.#schemas.of(
      tool.input,
      (problem, cause) =>
        new ToolConfigurationError(
          `The input schema of tool '${tool.name}' could not be converted to JSON Schema: ${problem}`,
          { cause },
        ),
    );
    if (rootType !== undefined && rootType !== "object") {
      throw new ToolConfigurationError(
        `The input schema of tool '${tool.name}' must describe an object, got type: ${rootType}`,
        {
          hint: "Models send tool arguments as an object; wrap the value in one, or leave the schema out for a single text.",
        },
      );
    }
    return jsonSchema;
  }

  #plainParameters(texts: PromptTexts<AgentTemplateName>): JsonSchema {
    let parameters = this.#plain.get(texts);
    if (parameters === undefined) {
      parameters = {
        type: "object",
        properties: { input: { type: "string", description: texts.render("tool.input", {}) } },
        required: ["input"],
      };
      this.#plain.set(texts, parameters);
    }
    return parameters;
  }
}
