import { TOOL_SYNONYMS } from "./synonyms.js";
import type { OnReviewTimeout, ReviewDecision } from "./review.js";
import type { TaskScope } from "./run.js";
import type { RunInfo } from "./run-info.js";
import type { ToolResult } from "./tool-result.js";
import type { Awaitable, JsonSchema, OutputSchema } from "./types.js";
import { problemOfSchemaPatterns } from "../util/schema/schema-patterns.js";
import { isObject } from "../util/objects.js";
import { isValidating } from "../util/schema/standard-schema.js";
import { ValidationError } from "./errors.js";
import { ReviewUnavailableError } from "./state-errors.js";
import {
  checkOptions,
  preview,
  requireBoolean,
  requireDuration,
  requireFunction,
  requireOneOf,
  requireText,
} from "./validation.js";

/**
 * The API of a tool during a call. `signal` aborts with the task, with the run, and after the
 * tool's `timeoutMs`. Pass it to all asynchronous work.
 */
export interface ToolContext {
  readonly scope: TaskScope;
  /** The run, for its inputs and values: `run.get(User)`. */
  readonly run: RunInfo;
  readonly signal: AbortSignal;
  readonly runId: string;
  readonly taskId: string;
  readonly agentRole: string;
  readonly toolCallId: string;
  /**
   * Identifies this call for services that must not repeat an action: `{runId}/{identity of the
   * task}@{attempt}/{toolCallId}`, with the suffix `~2` for a second call with the same id. In
   * ids of tasks and tool calls, `%` and `@` are written as `%25` and `%40`. The same call has the
   * same key in each execution of the run.
   */
  readonly idempotencyKey: string;
  /**
   * Asks a person for approval from inside the tool. The decision EDIT contains the text in
   * `revisedOutput`. The tool decides how to apply the decision.
   *
   * @throws ReviewUnavailableError if no answer is possible; ReviewTimeoutError and ReviewError.
   */
  requestApproval(o: {
    readonly description: string;
    readonly timeoutMs?: number | undefined;
    readonly onTimeout?: OnReviewTimeout | undefined;
    readonly prompt?: string | undefined;
    readonly requiredRole?: string | undefined;
  }): Promise<ReviewDecision>;
}

/**
 * The return type of a tool. An object is sent to the model as JSON and kept as `structured`.
 * `undefined` is a success without text.
 */
export type ToolReturn = ToolResult | string | object | undefined | void;

/** The properties of every tool. `I` is the type of the input. */
export interface ToolBase<I = never> {
  readonly name: string;
  /** The description for the model: the purpose, when to use the tool, an example. */
  readonly description: string;
  /** The tool's name for people, used in `tool_started`. Default: none. */
  readonly title?: string | undefined;
  /**
   * Whether user interfaces omit the arguments and the result. Adds a mark to `tool_started`.
   * Default: the value of `delegates`.
   */
  readonly private?: boolean | undefined;
  /** Whether no other tool call of the same turn may run at the same time. Default false. */
  readonly sequential?: boolean | undefined;
  /**
   * Time limit of one call in milliseconds. After the limit, the model receives a failure. Default:
   * `toolTimeoutMs` of the ensemble, which does not apply to a tool with `delegates`.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Whether each call needs a person's approval. The person may edit the input. If no answer is
   * possible, the task fails before its start. Default false.
   */
  readonly requireApproval?: boolean | undefined;
  /** Returns whether this call needs approval. Takes precedence over `requireApproval`. */
  needsApproval?(input: I): boolean;
  /**
   * Returns the description of the call for the person. Default: the tool's name and its input as
   * JSON.
   */
  approvalDescription?(input: I): string;
  /**
   * Returns the text that the model receives if the person refuses. Default: `Tool call rejected by
   * reviewer: {name}`.
   */
  approvalRejection?(input: I): string;
  /**
   * Whether the result comes from outside and may contain instructions. The model then receives the
   * result as marked data. Default false.
   */
  readonly untrusted?: boolean | undefined;
  /** The effect of a call, for policies. Default: unknown. Policies treat this case like `send`. */
  readonly effect?: "read" | "write" | "send" | undefined;
  /** Returns the effect of this call. Takes precedence over `effect`. */
  effectOf?(input: I): "read" | "write" | "send";
  /**
   * Treatment of a call in the replay of a recorded run. `result` (default): the replay uses the
   * recorded result. `run`: the replay executes the tool again, because the rest of the run needs
   * its effect.
   */
  readonly replay?: "result" | "run" | undefined;
  /**
   * Treatment, in a resumed run, of a call that began and has no recorded result. `again`: the run
   * calls the tool again. `ask`: the run asks a person. `fail`: the run fails. Default: `again` for
   * a call that only reads or delegates, else `ask`. See `resumeOf`.
   */
  readonly resume?: "again" | "ask" | "fail" | undefined;
  /**
   * Whether the tool only delegates work to other agents or tools. `approveAfterUntrusted` then
   * checks the delegated calls instead. The default time limit of tools does not apply. Default
   * false.
   */
  readonly delegates?: boolean | undefined;
  /**
   * Present if a page executes the call. Set by `clientTool` of `agentensemble/tools`. `tool()`
   * does not accept this field.
   */
  readonly client?: true | undefined;
}

/**
 * A function that an agent's model can call. Without `input`, the tool takes one string, and the
 * model sends `{"input": "..."}`. With a schema, the arguments are validated before the call. With
 * plain JSON Schema, the tool receives the parsed arguments. A tool must not keep state of a run:
 * `ctx` contains all data of a call.
 */
export interface Tool<I = string> extends ToolBase<I> {
  readonly input?: OutputSchema<I> | JsonSchema | undefined;
  execute(input: I, ctx: ToolContext): Awaitable<ToolReturn>;
}

/** A tool with input of any type. */
export type AnyTool = Tool<unknown>;

/**
 * Returns tools at the start of each task, for instance remote or discovered tools. Use the task's
 * scope for its signal, lookups and warnings.
 */
export interface DynamicToolProvider {
  resolve(scope?: TaskScope): Awaitable<readonly AnyTool[]>;
}

/** An element of the `tools` of an agent or task. */
export type ToolLike = AnyTool | DynamicToolProvider;

const TOOL_FIELDS = [
  ...["name", "title", "description", "input", "execute", "private", "sequential", "timeoutMs"],
  ...[
    "requireApproval",
    "needsApproval",
    "approvalDescription",
    "approvalRejection",
    "untrusted",
    "effect",
    "effectOf",
    "replay",
    "resume",
    "delegates",
  ],
];

/**
 * Creates a tool. The type of `execute`'s parameter follows from `input`.
 *
 * @throws ValidationError for a name that is not 1 to 64 letters, digits, `_` and `-`. Also for a
 * blank description, a missing `execute`, an unknown field, and an `input` that is not a schema.
 * Also for a schema with patterns that can't be matched in linear time.
 */
export function tool<I>(
  t: ToolBase<NoInfer<I>> & {
    readonly input: OutputSchema<I>;
    execute(input: NoInfer<I>, ctx: ToolContext): Awaitable<ToolReturn>;
  },
): Tool<I>;
export function tool(
  t: ToolBase<string> & {
    readonly input?: undefined;
    execute(input: string, ctx: ToolContext): Awaitable<ToolReturn>;
  },
): Tool;
export function tool<I = Readonly<Record<string, unknown>>>(
  t: ToolBase<I> & {
    readonly input: JsonSchema;
    execute(input: I, ctx: ToolContext): Awaitable<ToolReturn>;
  },
): Tool<I>;
export function tool<I>(t: Tool<I>): Tool<I> {
  checkOptions("tool()", t, TOOL_FIELDS, TOOL_SYNONYMS);
  requireText(t.name, "Tool name must not be blank");
  requireText(t.description, `Tool '${t.name}' description must not be blank`);
  if (typeof t.execute !== "function")
    throw new ValidationError(
      `Tool '${t.name}' execute must be a function, got: ${preview(t.execute)}`,
    );
  checkFields(t);
  checkInput(t);
  return Object.freeze({ ...t, execute: t.execute });
}

/** The pattern of tool names that every vendor accepts. */
export const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

const BOOLEANS = ["private", "sequential", "requireApproval", "untrusted", "delegates"] as const;

function checkFields(t: ToolBase<never>): void {
  if (!TOOL_NAME.test(t.name)) {
    throw new ValidationError(
      `Tool name must be 1 to 64 letters, digits, '_' and '-', got: ${preview(t.name)}`,
      {
        hint: "Models receive tools under these names and accept no others.",
      },
    );
  }
  const what = `Tool '${t.name}'`;
  if (t.title !== undefined) requireText(t.title, `${what} title must not be blank when set`);
  requireDuration(`${what} timeoutMs`, t.timeoutMs);
  for (const field of BOOLEANS) requireBoolean(`${what} ${field}`, t[field]);
  for (const field of [
    "needsApproval",
    "approvalDescription",
    "approvalRejection",
    "effectOf",
  ] as const)
    requireFunction(`${what} ${field}`, t[field]);
  requireOneOf(`${what} effect`, t.effect, ["read", "write", "send"]);
  requireOneOf(`${what} replay`, t.replay, ["result", "run"]);
  requireOneOf(`${what} resume`, t.resume, ["again", "ask", "fail"]);
}

function checkInput({ name, input }: Pick<AnyTool, "name" | "input">): void {
  if (input === undefined || typeof input === "function") return;
  if (typeof input !== "object" || input === null)
    throw new ValidationError(`Tool '${name}' input must be a schema, got: ${preview(input)}`);
  if (!isValidating(input) && Object.values(input).some((f) => isObject(f) && "~standard" in f))
    throw new ValidationError(`Tool '${name}' input has a schema for each field, not one schema`, {
      hint: "Wrap the fields in an object, for example z.object({ ... }).",
    });
  const problem = isValidating(input) ? undefined : problemOfSchemaPatterns(input);
  if (problem === undefined) return;
  throw new ValidationError(`Tool '${name}' input: ${problem}`, {
    hint: "Write the pattern without looking around and without back references, or check the value in execute().",
  });
}

/**
 * Returns whether `value` is a tool. The `tools` of agents and tasks may also contain providers.
 */
export function isTool(value: unknown): value is AnyTool {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as AnyTool).execute === "function" &&
    typeof (value as AnyTool).name === "string"
  );
}

/** Returns whether `value` is a provider of tools. */
export function isToolProvider(value: unknown): value is DynamicToolProvider {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as DynamicToolProvider).resolve === "function"
  );
}

/**
 * Checks a list of tools passed to an agent or a task.
 * @throws ValidationError with the index of an invalid tool, or of a repeated name.
 */
export function checkTools(prefix: string, tools: readonly unknown[]): void {
  const names = new Set<string>();
  tools.forEach((entry, index) => {
    if (entry === undefined || entry === null)
      throw new ValidationError(`${prefix} at index ${index} must not be null`);
    if (isToolProvider(entry)) return;
    if (!isTool(entry)) {
      const kind = typeof entry === "object" ? (entry.constructor?.name ?? "Object") : typeof entry;
      throw new ValidationError(`${prefix} at index ${index} (${kind}) is not a tool`, {
        hint:
          typeof entry === "function"
            ? `Call the function that creates the tool: ${entry.name === "" ? "makeTool" : entry.name}(...).`
            : "Make it with tool({ name, description, execute }), or pass an object with name, description and execute.",
      });
    }
    requireText(entry.name, `${prefix} at index ${index} must have a name`);
    if (names.has(entry.name))
      throw new ValidationError(
        `Duplicate tool name '${entry.name}'. Tool names must be unique within an agent.`,
      );
    names.add(entry.name);
    requireFunction(`Tool '${entry.name}' execute`, entry.execute);
    checkFields(entry);
    checkInput(entry);
  });
}

/**
 * Returns the error for a tool that needs an answer of a person or a page, but can't receive it.
 * `ReviewGate.canAsk` is then false, or no gate is bound.
 */
export function noReviewer(
  toolName: string,
  answerer: "person" | "page" = "person",
): ReviewUnavailableError {
  const message =
    answerer === "person"
      ? `Tool '${toolName}' requires approval but the ensemble has no \`reviewHandler\`. Set it, for instance to ReviewHandler.console().`
      : `Tool '${toolName}' is executed by a page, but nothing can send its output. Serve a page with chatHandler({ reviews }), or set a \`reviewHandler\` that answers.`;
  return new ReviewUnavailableError(message);
}

/**
 * Returns how a resumed run treats a call of this tool that began and has no recorded result:
 * `Tool.resume`, or its default.
 */
export function resumeOf<I>(tool: ToolBase<I>, input: I): "again" | "ask" | "fail" {
  if (tool.resume !== undefined) return tool.resume;
  const effect = tool.effectOf?.(input) ?? tool.effect;
  return tool.delegates === true || effect === "read" ? "again" : "ask";
}
