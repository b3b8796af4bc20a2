import type { SharedCapability, WorkRequest } from "../contracts/network.js";
import type { EnsembleOutput } from "../contracts/output.js";
import type { RunOptions } from "../contracts/run.js";
import type { ShareSettings, SharedTask, SharedTool } from "../contracts/ensemble-options.js";
import type { AnyTask } from "../contracts/task.js";
import type { AnyTool } from "../contracts/tool.js";
import type { Inputs, JsonSchema } from "../contracts/types.js";
import type { ServicePorts } from "./ports.js";
import type { SpreadRun } from "./spread/spread-run.js";
import { ValidationError } from "../contracts/errors.js";
import { Task } from "../contracts/task.js";
import { isTool } from "../contracts/tool.js";
import { Tokens } from "../contracts/tokens.js";
import { checkToolInput } from "../contracts/tool-input.js";
import { finished } from "../plugins/shared/offers/run-result.js";
import { offeredDescription, withContext } from "../plugins/shared/offers/task-offer.js";
import {
  ToolCallExecutor,
  toolCallTask,
  toolInputSchema,
} from "../plugins/shared/offers/tool-offer.js";

/** The output of a run for a request. */
export interface WorkOutput {
  readonly raw: string;
  readonly parsed: unknown;
  readonly output: EnsembleOutput;
}

/** A task or tool that callers may request. */
export interface SharedWork {
  readonly capability: SharedCapability;
  readonly timeoutMs: number | undefined;
  readonly resultTtlMs: number | undefined;
  /** Runs a request. @throws as `Ensemble.run`; ValidationError for invalid arguments. */
  run(request: WorkRequest, options: RunOptions): Promise<WorkOutput>;
}

/**
 * Returns the shared tasks and tools of an ensemble, by name.
 * @throws ValidationError for a tool whose input has no JSON schema or is not an object, for
 * invalid options of an entry's runs, and for an entry with the name of the run of the ensemble.
 */
export function sharedWorkOf(
  ports: ServicePorts,
  sharesRun: boolean,
  spread?: (request: WorkRequest) => SpreadRun,
): ReadonlyMap<string, SharedWork> {
  const { shareTasks = {}, shareTools = {} } = ports.options;
  const shared = new Map<string, SharedWork>();
  for (const [name, entry] of Object.entries(shareTasks))
    shared.set(name, taskWork(name, entry, ports));
  for (const [name, entry] of Object.entries(shareTools))
    shared.set(name, toolWork(name, entry, ports));
  if (sharesRun && shared.has("run"))
    throw new ValidationError(
      "A shared task or tool has the name 'run', which is that of the whole ensemble",
      {
        hint: "Give it another name.",
      },
    );
  if (sharesRun) shared.set("run", runWork(ports, spread));
  return shared;
}

/** Returns the parts of a shared entry that do not depend on its kind. */
function commonParts(
  name: string,
  type: SharedCapability["type"],
  { description, version, tags, timeoutMs, resultTtlMs }: ShareSettings,
  own: Pick<SharedCapability, "description" | "inputSchema">,
): Omit<SharedWork, "run"> {
  const capability: SharedCapability = Object.freeze({
    name,
    type,
    description: description ?? own.description,
    ...(version !== undefined && { version }),
    ...(tags !== undefined && { tags: Object.freeze([...tags]) }),
    ...(own.inputSchema !== undefined && { inputSchema: own.inputSchema }),
  });
  return { capability, timeoutMs, resultTtlMs };
}

function taskWork(name: string, entry: SharedTask, ports: ServicePorts): SharedWork {
  const settings: ShareSettings = entry instanceof Task ? {} : entry;
  const task: AnyTask = entry instanceof Task ? entry : entry.task;
  const tasks = withContext(task);
  const run = ports.derive(name, tasks);
  const { expectedOutput } = Task.of("a task without an expected output");
  const own = {
    description: offeredDescription(task, expectedOutput),
    inputSchema: variablesSchema(tasks.flatMap((each) => ports.variablesOf(each))),
  };
  return {
    ...commonParts(name, "TASK", settings, own),
    async run(request, options) {
      const output = await run(requestInputs(request), options);
      const { raw, parsed } = finished<unknown>(output, task);
      return { raw, parsed, output };
    },
  };
}

/**
 * Returns the schema of the variables of a task. Returns `undefined` for `{context}` alone, the
 * default.
 */
function variablesSchema(found: readonly string[]): JsonSchema | undefined {
  const required = [...new Set(found)];
  if (required.length === 1 && required[0] === "context") return undefined;
  return Object.freeze({
    type: "object",
    properties: Object.fromEntries(required.map((name) => [name, { type: "string" }])),
    required,
  });
}

function requestInputs({ inputs, context }: WorkRequest): Inputs {
  return { ...inputs, ...(context !== undefined && { context }) };
}

function toolWork(name: string, entry: SharedTool, ports: ServicePorts): SharedWork {
  const settings: ShareSettings = isTool(entry) ? {} : entry;
  const tool: AnyTool = isTool(entry) ? entry : entry.tool;
  const task = toolCallTask(tool.name, "another ensemble");
  const run = ports.derive(name, [task]);
  const own = { description: tool.description, inputSchema: toolInputSchema(tool) };
  return {
    ...commonParts(name, "TOOL", settings, own),
    async run(request, options) {
      const args = argumentsOf(request);
      await requireToolInput(tool, args);
      const executor = new ToolCallExecutor(task, tool, request.requestId, args);
      const { bindings } = options;
      const output = await run(
        {},
        {
          ...options,
          bindings: (bind) => {
            bindings?.(bind);
            bind.many(Tokens.TaskExecutor).toConstantValue(executor);
          },
        },
      );
      const { raw, parsed } = finished(output, task);
      return { raw, parsed, output };
    },
  };
}

/** Returns the arguments of a tool. A tool with a text as input receives the context. */
function argumentsOf({ inputs, context }: WorkRequest): Readonly<Record<string, unknown>> {
  return inputs ?? (context === undefined ? {} : { input: context });
}

/** @throws ValidationError for invalid arguments of the tool. */
async function requireToolInput(
  tool: AnyTool,
  args: Readonly<Record<string, unknown>>,
): Promise<void> {
  const checked = await checkToolInput(tool, tool.input === undefined ? args["input"] : args);
  if (!checked.ok)
    throw new ValidationError(`The inputs do not fit tool '${tool.name}': ${checked.problem}`, {
      about: "inputs",
    });
}

function runWork(
  ports: ServicePorts,
  spread: ((request: WorkRequest) => SpreadRun) | undefined,
): SharedWork {
  const { options, inputSchema } = ports;
  const own = { description: options.description ?? `Runs ${options.name ?? "the ensemble"}` };
  const schema = inputSchema ?? { type: "object" };
  return {
    ...commonParts("run", "RUN", {}, { ...own, inputSchema: schema }),
    async run(request, run) {
      const spreading = spread?.(request);
      const output =
        spreading === undefined
          ? await ports.run(requestInputs(request), run)
          : await spreading.run(run, (options) => ports.run(requestInputs(request), options));
      return { raw: output.raw, parsed: output.lastCompletedOutput?.parsed, output };
    },
  };
}
