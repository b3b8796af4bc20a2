import type { OnReviewTimeout, ReviewDecision } from "./review.js";
import type { TaskScope } from "./run.js";
import type { Awaitable, JsonSchema, OutputSchema } from "./types.js";
import { problemOfSchemaPatterns } from "../util/schema/schema-patterns.js";
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

const RESULT = Symbol.for("agentensemble/tool-result");

/** What a tool gives back. Returning a plain string or object is the same as `ToolResult.success` of it. */
export class ToolResult {
  readonly ok: boolean;
  /** The text for the model; empty for a failure. */
  readonly output: string;
  /** Why it failed; the model sees it as `Error: {message}`. */
  readonly errorMessage: string | undefined;
  /** The value behind the text: for listeners and the trace, never sent to the model. */
  readonly structured: unknown;

  private constructor(
    ok: boolean,
    output: string,
    errorMessage: string | undefined,
    structured: unknown,
  ) {
    this.ok = ok;
    this.output = output;
    this.errorMessage = errorMessage;
    this.structured = structured;
    Object.freeze(this);
  }

  get [RESULT](): true {
    return true;
  }

  /** `output` is the text for the model; `undefined` and `null` count as empty, other values are sent as JSON. */
  static success(output?: string, structured?: unknown): ToolResult {
    return new ToolResult(true, textOf(output), undefined, structured);
  }

  static failure(message?: string): ToolResult {
    const text = textOf(message);
    return new ToolResult(
      false,
      "",
      text === "" ? "Tool execution failed with no message" : text,
      undefined,
    );
  }

  /** Whether `value` is a result, also of another copy of the package. */
  static isInstance(value: unknown): value is ToolResult {
    return (
      typeof value === "object" &&
      value !== null &&
      (value as { [RESULT]?: unknown })[RESULT] === true
    );
  }
}

/** Callers without types may give anything. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : (JSON.stringify(value) ?? `${value as string}`);
}

/** What a tool may use while it runs. `signal` ends with the task, the run and the tool's own `timeoutMs`: pass it on. */
export interface ToolContext {
  readonly scope: TaskScope;
  readonly signal: AbortSignal;
  readonly runId: string;
  readonly taskId: string;
  readonly agentRole: string;
  readonly toolCallId: string;
  /**
   * Names this call for services that must not do a thing twice: `{runId}/{identity of the task}@{attempt}/{toolCallId}`, with `~2` behind it for the
   * second call of one id. The same when the run is repeated under its id.
   */
  readonly idempotencyKey: string;
  /**
   * Asks a person whether to go on, from inside the tool. An edit gives `revisedOutput`; what follows from the decision is up to the tool.
   * @throws ReviewUnavailableError where nobody can answer; ReviewTimeoutError and ReviewError.
   */
  requestApproval(o: {
    readonly description: string;
    readonly timeoutMs?: number | undefined;
    readonly onTimeout?: OnReviewTimeout | undefined;
    readonly prompt?: string | undefined;
    readonly requiredRole?: string | undefined;
  }): Promise<ReviewDecision>;
}

/** What a tool may return: an object is sent as JSON and kept as `structured`; `undefined` is an empty success. */
export type ToolReturn = ToolResult | string | object | undefined | void;

/** What every tool has. `I` is the type of its input. */
export interface ToolBase<I = never> {
  readonly name: string;
  /** For the model: what it does, when to use it, an example. */
  readonly description: string;
  /** Its name for people, in `tool_started`. Default: none. */
  readonly title?: string | undefined;
  /** Marks `tool_started`: front ends for users leave out arguments and result. Default: `delegates`. */
  readonly private?: boolean | undefined;
  /** Never run beside other calls of the same turn. Default false. */
  readonly sequential?: boolean | undefined;
  /** Time for one call in milliseconds; beyond it the model is told. Default: none. */
  readonly timeoutMs?: number | undefined;
  /** Each call waits for a person's yes; an edit changes the input. Where nobody can answer the task fails before it starts. Default false. */
  readonly requireApproval?: boolean | undefined;
  /** Whether this very call needs approval; decides instead of `requireApproval`. */
  needsApproval?(input: I): boolean;
  /** What the person is shown. Default: the tool's name and its input as JSON. */
  approvalDescription?(input: I): string;
  /** What the model is told when the person says no. Default: `Tool call rejected by reviewer: {name}`. */
  approvalRejection?(input: I): string;
  /** What it gives back comes from outside and may hold instructions: it reaches the model as marked data. Default false. */
  readonly untrusted?: boolean | undefined;
  /** What a call does to the world; policies go by it. Default: unknown, which they treat as `send`. */
  readonly effect?: "read" | "write" | "send" | undefined;
  /** What this very call does; decides instead of `effect`. */
  effectOf?(input: I): "read" | "write" | "send";
  /** What a replay of a recorded run does: give the recorded `result` (default), or `run` the tool again, because the rest of the run needs what it does. */
  readonly replay?: "result" | "run" | undefined;
  /**
   * What a resumed run does with a call that was begun and has no result: call it `again`, `ask` a person, or `fail`. Default: `again` for a call that
   * only reads or delegates, else `ask`. See `resumeOf`.
   */
  readonly resume?: "again" | "ask" | "fail" | undefined;
  /**
   * It does nothing itself but hands work to other agents or tools. `approveAfterUntrusted` goes by the calls that are made there, and the default time
   * limit of tools does not hold for it. Default false.
   */
  readonly delegates?: boolean | undefined;
}

/**
 * Something an agent's model can call. Without `input` the tool takes one string (the model sends `{"input": "..."}`).
 * With a schema the arguments are validated first; with plain JSON Schema they are parsed and passed on.
 * A tool keeps no state of a run: everything it needs is in `ctx`.
 */
export interface Tool<I = string> extends ToolBase<I> {
  readonly input?: OutputSchema<I> | JsonSchema | undefined;
  execute(input: I, ctx: ToolContext): Awaitable<ToolReturn>;
}

/** A tool of whatever input. */
export type AnyTool = Tool<unknown>;

/** Expands to tools each time a task starts: remote or discovered ones. The task's scope is there for its signal, look-ups and warnings. */
export interface DynamicToolProvider {
  resolve(scope?: TaskScope): Awaitable<readonly AnyTool[]>;
}

/** What the `tools` of an agent or task may hold. */
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
 * Makes a tool; the type of `execute`'s input follows from `input`.
 * @throws ValidationError for a name that is not 1 to 64 letters, digits, `_` and `-`, a blank description, a missing `execute`, an input that is no schema or whose patterns can't be matched in linear time, an unknown field.
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
  checkOptions("tool()", t, TOOL_FIELDS);
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

/** Names of tools that every vendor of models takes. */
export const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

const BOOLEANS = ["private", "sequential", "requireApproval", "untrusted", "delegates"] as const;

function checkFields(t: ToolBase<never>): void {
  if (!TOOL_NAME.test(t.name)) {
    throw new ValidationError(
      `Tool name must be 1 to 64 letters, digits, '_' and '-', got: ${preview(t.name)}`,
      {
        hint: "Models are offered tools by these names, and take no others.",
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
  const problem = isValidating(input) ? undefined : problemOfSchemaPatterns(input);
  if (problem === undefined) return;
  throw new ValidationError(`Tool '${name}' input: ${problem}`, {
    hint: "Write the pattern without looking around and without back references, or check the value in execute().",
  });
}

/** Whether `value` can be called as a tool. The `tools` of agents and tasks, and a task's `handler`, may hold others. */
export function isTool(value: unknown): value is AnyTool {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as AnyTool).execute === "function" &&
    typeof (value as AnyTool).name === "string"
  );
}

/** Whether `value` expands to tools when a task starts. */
export function isToolProvider(value: unknown): value is DynamicToolProvider {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as DynamicToolProvider).resolve === "function"
  );
}

/**
 * Checks a list of tools as given to an agent or a task.
 * @throws ValidationError naming the index of what is no tool, or a name that occurs twice.
 */
export function checkTools(prefix: string, tools: readonly unknown[]): void {
  const names = new Set<string>();
  tools.forEach((entry, index) => {
    if (entry === undefined || entry === null)
      throw new ValidationError(`${prefix} at index ${index} must not be null`);
    if (isToolProvider(entry)) return;
    if (!isTool(entry)) {
      const kind = typeof entry === "object" ? (entry.constructor?.name ?? "Object") : typeof entry;
      throw new ValidationError(`${prefix} at index ${index} (${kind}) is no tool`, {
        hint:
          typeof entry === "function"
            ? `A function that makes a tool has to be called: ${entry.name === "" ? "makeTool" : entry.name}(...).`
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

/** Returns the error of a tool that needs approval where nobody can give it: where `ReviewGate.canAsk` is false, or no gate is bound. */
export function noReviewer(toolName: string): ReviewUnavailableError {
  const message = `Tool '${toolName}' requires approval but the ensemble has no \`reviewHandler\`. Set it, for instance to ReviewHandler.console().`;
  return new ReviewUnavailableError(message);
}

/** What a tool returned, as a result. @throws where an object has no JSON. */
export function toToolResult(returned: unknown): ToolResult {
  if (returned === undefined || returned === null) return ToolResult.success("");
  if (typeof returned === "string") return ToolResult.success(returned);
  if (ToolResult.isInstance(returned)) return returned;
  return ToolResult.success(JSON.stringify(returned) ?? "", returned);
}

/** What a resumed run does with a call of this tool that was begun and has no result: `Tool.resume` with its default. */
export function resumeOf<I>(tool: ToolBase<I>, input: I): "again" | "ask" | "fail" {
  if (tool.resume !== undefined) return tool.resume;
  const effect = tool.effectOf?.(input) ?? tool.effect;
  return tool.delegates === true || effect === "read" ? "again" : "ask";
}
