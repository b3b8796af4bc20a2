import type { ReviewDecision, ReviewGate } from "../../../contracts/review.js";
import type { Tool, ToolBase, ToolContext } from "../../../contracts/tool.js";
import type { JsonSchema, OutputSchema } from "../../../contracts/types.js";
import { ValidationError } from "../../../contracts/errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { noReviewer, tool } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { checkOptions, preview, requireInteger } from "../../../contracts/validation.js";
import { excerptJson } from "../../../util/json/excerpt.js";
import { parsedOrText } from "../../../util/json/parsed-or-text.js";
import { toJsonValue } from "../../../util/json/to-json-value.js";
import { checkValue, isValidating } from "../../../util/schema/standard-schema.js";
import { cutText } from "../../../util/text.js";
import { Schemas } from "../../shared/schemas.js";

/** The options of a tool that also apply if a page executes it. */
type SharedOptions<I> = Pick<
  ToolBase<I>,
  | "title"
  | "sequential"
  | "requireApproval"
  | "needsApproval"
  | "approvalDescription"
  | "approvalRejection"
  | "effect"
  | "effectOf"
  | "replay"
>;

/** Options of {@link clientTool}. */
export interface ClientToolOptions<I, O> extends SharedOptions<I> {
  /** The name that `onToolCall` of the page receives. */
  readonly name: string;
  /** The description for the model: the purpose, when to use the tool, an example. */
  readonly description: string;
  /** The schema of the input, as in `tool()`. */
  readonly input?: OutputSchema<I> | JsonSchema | undefined;
  /**
   * Checks the output of the page before the model receives it. Default: accepts any JSON value.
   */
  readonly output?: OutputSchema<O> | undefined;
  /** Time limit of the page in milliseconds. 0 means no limit. Default 300,000. */
  readonly timeoutMs?: number | undefined;
  /** Limit of the size of the output as JSON, in bytes. Default 65,536. */
  readonly maxOutputBytes?: number | undefined;
  /**
   * Whether the model receives the output as marked data. A page may send any text. Default true.
   */
  readonly untrusted?: boolean | undefined;
}

/** A tool that a page executes. */
export interface ClientTool<I, O = unknown> extends Tool<I> {
  readonly client: true;
  /** Checks the output of the page. */
  readonly output?: OutputSchema<O> | undefined;
}

/**
 * The input and the output of a client tool, for the type of the messages of a page:
 * `UIMessage<unknown, UIDataTypes, { time_zone: ClientToolCall<typeof timeZone> }>`.
 */
export interface ClientToolCall<T> {
  readonly input: T extends ClientTool<infer I> ? I : never;
  readonly output: T extends { readonly output?: OutputSchema<infer O> | undefined } ? O : never;
}

const OWN_FIELDS = ["name", "description", "input", "output", "timeoutMs", "maxOutputBytes"];
const SHARED_FIELDS = [
  ...["title", "sequential", "requireApproval", "needsApproval", "approvalDescription"],
  ...["approvalRejection", "untrusted", "effect", "effectOf", "replay"],
];

/** Names of the same options in other frameworks. */
const SYNONYMS = { inputSchema: "input", parameters: "input", outputSchema: "output" };

const DEFAULT_TIMEOUT_MS = 300_000;
const DEFAULT_MAX_BYTES = 65_536;
/** The general time limit of tools does not apply, because the question has its own time limit. */
const LONGEST_MS = 2_147_483_647;
/** The longest text of an error of the page, in characters. */
const ERROR_LIMIT = 2_000;

/** The rules by which the output of the page is checked. */
interface ClientOutputRules {
  readonly name: string;
  readonly output: OutputSchema<unknown> | undefined;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/**
 * Creates a tool that a page executes, in `onToolCall` of `useChat` or with `addToolOutput`. The
 * call waits in the review store until `chatHandler({ reviews })` or `runHandler({ reviews })`
 * receives its output. A review handler, or a person who edits the review, can supply the output
 * instead. If nothing can answer, a task with the tool fails before its start.
 *
 * The model receives a failure in these cases:
 * - No output arrives in time.
 * - The page reports an error.
 * - The output is too large or does not match `output`.
 *
 * @throws ValidationError for an unknown option or a value out of range; the errors of `tool()`.
 */
export function clientTool<I, O = unknown>(
  options: ClientToolOptions<NoInfer<I>, O> & { readonly input: OutputSchema<I> },
): ClientTool<I, O>;
export function clientTool<O = unknown>(
  options: ClientToolOptions<string, O> & { readonly input?: undefined },
): ClientTool<string, O>;
export function clientTool<I = Readonly<Record<string, unknown>>, O = unknown>(
  options: ClientToolOptions<I, O> & { readonly input: JsonSchema },
): ClientTool<I, O>;
export function clientTool<I, O>(options: ClientToolOptions<I, O>): ClientTool<I, O> {
  checkOptions("clientTool()", options, [...OWN_FIELDS, ...SHARED_FIELDS], SYNONYMS);
  const {
    output,
    timeoutMs = DEFAULT_TIMEOUT_MS,
    maxOutputBytes: maxBytes = DEFAULT_MAX_BYTES,
    ...shared
  } = options;
  const what = `Tool '${preview(options.name)}'`;
  requireInteger(`${what} timeoutMs`, timeoutMs, 0, "0 (waits without end) or more milliseconds");
  requireInteger(`${what} maxOutputBytes`, maxBytes, 1, "1 or more bytes");
  if (output !== undefined && !isValidating(output))
    throw new ValidationError(`${what} output must be a schema, got: ${preview(output)}`, {
      hint: "Use a Standard Schema, for example of zod: JSON Schema alone can't check the output.",
    });
  const rules = { name: options.name, output, timeoutMs, maxBytes };
  const schemas = new Schemas();
  const made = tool<I>({
    untrusted: true,
    ...shared,
    input: options.input as OutputSchema<I>, // tool() checks each of its forms
    timeoutMs: LONGEST_MS,
    resume: "again", // a resumed run finds the waiting question or its answer
    execute: async (input, ctx) => {
      const editSchema = output === undefined ? undefined : schemas.find(output);
      return resultForModel(await outputOfPage(ctx, rules, { input, editSchema }), rules);
    },
  });
  return Object.freeze({ ...made, client: true as const, ...(output !== undefined && { output }) });
}

/** Waits for the output of the page. @throws ReviewUnavailableError if nothing can answer. */
function outputOfPage(
  { scope, signal, toolCallId }: ToolContext,
  { name, timeoutMs }: ClientOutputRules,
  { input, editSchema }: { readonly input: unknown; readonly editSchema: JsonSchema | undefined },
): Promise<ReviewDecision> {
  const { run, taskId, parentTaskId, agentRole, attempt } = scope;
  const gate: ReviewGate | undefined = run.find(Tokens.ReviewGate);
  if (gate?.canAsk(run) !== true) throw noReviewer(name, "page");
  const data = toJsonValue(input);
  const { text, isWhole } = excerptJson(data);
  return gate.ask(
    {
      timing: "DURING_EXECUTION",
      expects: "output",
      taskDescription: `${name} ${text}`,
      taskOutput: "",
      prompt: "A page executes this tool. An edit is its output, as JSON.",
      timeoutMs,
      onTimeout: "EXIT_EARLY", // ends the call only
      toolName: name,
      callId: toolCallId,
      input: data,
      truncated: !isWhole,
      editSchema,
      key: `output:${name}:${toolCallId}`,
    },
    { run, taskId, parentTaskId, agentRole, attempt, signal },
  );
}

/** Returns the checked output, or the reason why there is none. */
async function resultForModel(
  { type, revisedOutput = "", timedOut, comment = "" }: ReviewDecision,
  { name, output, timeoutMs, maxBytes }: ClientOutputRules,
): Promise<ToolResult> {
  if (timedOut === true)
    return ToolResult.failure(`The page sent no output of tool '${name}' within ${timeoutMs} ms`);
  if (type !== "EDIT") {
    const why = comment.trim() === "" ? "" : `: ${cutText(comment, ERROR_LIMIT, "...")}`;
    return ToolResult.failure(`The page did not execute tool '${name}'${why}`);
  }
  const bytes = Buffer.byteLength(revisedOutput);
  if (bytes > maxBytes)
    return ToolResult.failure(
      `The output of tool '${name}' has ${bytes} bytes, at most ${maxBytes} are allowed`,
    );
  const value = parsedOrText(revisedOutput); // a person may write a text without quotation marks
  const checked = output === undefined ? undefined : await checkValue(output, value);
  if (checked?.ok === false)
    return ToolResult.failure(
      `The output of tool '${name}' does not match its schema: ${cutText(checked.problem, ERROR_LIMIT, "...")}`,
    );
  const result = checked === undefined ? value : checked.value;
  return typeof result === "string"
    ? ToolResult.success(result)
    : ToolResult.success(JSON.stringify(result) ?? "null", result);
}
