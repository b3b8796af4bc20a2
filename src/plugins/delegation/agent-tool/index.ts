import type { Tool, ToolBase, ToolContext } from "../../../contracts/tool.js";
import type { JsonSchema, OutputSchema } from "../../../contracts/types.js";
import { Agent } from "../../../contracts/agent.js";
import { ValidationError } from "../../../contracts/errors.js";
import { toolNameOf } from "../../../contracts/role.js";
import { tool } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { preview, requireFunction } from "../../../contracts/validation.js";
import { isObject } from "../../../util/objects.js";
import { delegateForModel } from "../../shared/delegation/delegate-for-model.js";

/** Options of {@link agentTool}, in addition to those of a tool. */
export interface AgentToolOptions<I> extends Partial<Omit<ToolBase<I>, "delegates">> {
  /** The schema of the input. Default: an object with the text `task`. */
  readonly inputType?: OutputSchema<I> | undefined;
  /**
   * The schema of the result, which the calling model receives as JSON. Default: the result is
   * text.
   */
  readonly outputType?: OutputSchema<unknown> | undefined;
  /**
   * Returns the text of the agent's task. Default: the text `task` of the input, or the input as
   * JSON if there is none.
   */
  readonly prompt?: ((input: I) => string) | undefined;
}

const TASK_INPUT: JsonSchema = Object.freeze({
  type: "object",
  properties: {
    task: {
      type: "string",
      description: "What to do, with everything that has to be known for it",
    },
  },
  required: ["task"],
  additionalProperties: false,
});

/**
 * Creates a tool with which another agent calls this agent. Each call is a delegation with `mode:
 * "tool"`: a separate task with its own messages. The delegation policies and `maxDelegationDepth`
 * apply to it. If the delegation is refused or the task fails, the model receives a failed result.
 *
 * Default name: the role in lower case, with `_` in place of other characters. Default description:
 * the goal.
 *
 * @example tools: [agentTool(translator, { inputType: z.object({ text: z.string() }) })]
 * @throws ValidationError for a value other than an agent, and for invalid options.
 */
export function agentTool<I = { readonly task: string }>(
  agent: Agent,
  options: AgentToolOptions<I> = {},
): Tool<I> {
  if (!(agent instanceof Agent))
    throw new ValidationError(`agentTool() needs an Agent, got: ${preview(agent)}`);
  const { inputType, outputType, prompt = textOf, ...base } = options;
  requireFunction("agentTool() prompt", prompt);
  const execute = (input: I, context: ToolContext): Promise<ToolResult> =>
    callAgent(agent, prompt(input), context, outputType);
  return tool<I>({
    replay: "run",
    ...base,
    name: base.name ?? toolNameOf("", agent.role),
    description: base.description ?? agent.goal,
    delegates: true,
    input: inputType ?? (TASK_INPUT as OutputSchema<I>), // the input is `{ task }` in this case
    execute,
  });
}

async function callAgent(
  agent: Agent,
  taskDescription: string,
  { scope, toolCallId }: ToolContext,
  outputType: OutputSchema<unknown> | undefined,
): Promise<ToolResult> {
  if (taskDescription.trim() === "") return ToolResult.failure("The task must not be blank.");
  const { status, errors, rawOutput, parsedOutput } = await delegateForModel(
    scope,
    { agentRole: agent.role, taskDescription, mode: "tool" },
    { agent, outputType, toolCallId },
  );
  if (status === "FAILURE") return ToolResult.failure(errors.join("; "));
  if (outputType === undefined) return ToolResult.success(rawOutput ?? "");
  return ToolResult.success(JSON.stringify(parsedOutput) ?? "", parsedOutput);
}

function textOf(input: unknown): string {
  const { task } = isObject(input) ? (input as { readonly task?: unknown }) : {};
  return typeof task === "string" ? task : JSON.stringify(input);
}
