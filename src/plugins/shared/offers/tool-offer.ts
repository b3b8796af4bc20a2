import type { ExecutorResult, TaskExecutor } from "../../../contracts/executors.js";
import type { ContentPart } from "../../../contracts/content.js";
import type { TaskCall } from "../../../contracts/hooks.js";
import type { PlannedTask } from "../../../contracts/plan.js";
import type { TaskScope } from "../../../contracts/run.js";
import type { AnyTool } from "../../../contracts/tool.js";
import type { JsonSchema } from "../../../contracts/types.js";
import type { Arguments, Offer } from "./offer.js";
import type { TaskRunner } from "./ports.js";
import { ToolExecutionError } from "../../../contracts/errors.js";
import { Task } from "../../../contracts/task.js";
import { Tokens } from "../../../contracts/tokens.js";
import { structuredOf } from "./offer.js";
import { finished } from "./run-result.js";
import { isPlainSchema } from "../../../util/schema/schema-sides.js";
import { inputSchemaOf } from "./schemas.js";

const TEXT_INPUT = Object.freeze({
  type: "object",
  properties: Object.freeze({ input: Object.freeze({ type: "string" }) }),
  required: Object.freeze(["input"]),
});

/**
 * Offers a tool. Each call is a run of one task. Hooks, approval, limits, trace and events apply as
 * to any tool call.
 */
export function toolOffer(tool: AnyTool, prepare: (task: Task<unknown>) => TaskRunner): Offer {
  const { name, description, input } = tool;
  const task = toolCallTask(name, "an MCP client");
  const run = prepare(task);
  return {
    name,
    description,
    inputSchema: toolInputSchema(tool),
    // the validator of the protocol treats all clients equally
    checksInput: input === undefined || isPlainSchema(input),
    async call(args, { id, signal, timeoutMs, listener }) {
      const executor = new ToolCallExecutor(task, tool, id, args);
      const output = await run({
        inputs: {},
        signal,
        timeoutMs,
        listener,
        bindings: (bind) => void bind.many(Tokens.TaskExecutor).toConstantValue(executor),
      });
      const { raw, parsed } = finished(output, task);
      return { text: raw, structured: structuredOf(parsed), parts: executor.parts };
    },
  };
}

/**
 * Returns the schema of the arguments of a tool.
 * @throws ValidationError as {@link inputSchemaOf}.
 */
export function toolInputSchema({ name, input }: AnyTool): JsonSchema {
  return input === undefined ? TEXT_INPUT : inputSchemaOf(name, input);
}

/** Returns the task of a run that calls one tool. The run needs a {@link ToolCallExecutor}. */
export function toolCallTask(name: string, caller: string): Task<unknown> {
  return new Task<unknown>({
    name,
    description: `Call of the tool '${name}' by ${caller}`,
    handler: () => unreachable(name),
  });
}

function unreachable(name: string): never {
  throw new ToolExecutionError(`Tool '${name}' was called without its executor`, {
    toolName: name,
    toolInput: "",
  });
}

/**
 * Executes the task of such a run: calls the tool with the arguments of the client. An object
 * serves one run.
 */
export class ToolCallExecutor implements TaskExecutor {
  readonly name = "mcp-tool-call";
  readonly #task: Task<unknown>;
  readonly #tool: AnyTool;
  readonly #id: string;
  readonly #arguments: string;
  #parts: readonly ContentPart[] = [];

  constructor(task: Task<unknown>, tool: AnyTool, id: string, args: Arguments) {
    this.#task = task;
    this.#tool = tool;
    this.#id = id;
    this.#arguments = JSON.stringify(args);
  }

  /** Images and files of the result, after the call. */
  get parts(): readonly ContentPart[] {
    return this.#parts;
  }

  handles(task: PlannedTask): boolean {
    // copies of the task have the same function, and no other task has it
    return task.task.handler === this.#task.handler;
  }

  async execute(_call: TaskCall, scope: TaskScope): Promise<ExecutorResult> {
    const { name } = this.#tool;
    const result = await scope.callTool({ id: this.#id, name, arguments: this.#arguments }, [
      this.#tool,
    ]);
    if (!result.ok)
      throw new ToolExecutionError(result.errorMessage ?? `Tool '${name}' failed`, {
        toolName: name,
        toolInput: this.#arguments,
      });
    this.#parts = result.parts ?? []; // another copy of the package may return a result without it
    return {
      raw: result.output,
      toolCallCount: 1,
      ...(result.structured !== undefined && { parsed: result.structured }),
    };
  }
}
