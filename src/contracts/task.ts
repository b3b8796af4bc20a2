import { TASK_SYNONYMS } from "./synonyms.js";
import type { ModelOptions, ModelRef } from "./chat-model.js";
import type { ContentPart } from "./content.js";
import type { InputGuardrail, OutputGuardrail } from "./guardrail.js";
import type { RateLimit } from "./rate-limit.js";
import type { ReflectionOptions } from "./reflection.js";
import type { Review } from "./review.js";
import type { TaskContext } from "./run.js";
import type { ScopeName } from "./run-info.js";
import type { AnyTool, ToolLike } from "./tool.js";
import type { Awaitable, OutputSchema } from "./types.js";
import { Agent, checkModel, checkModelOptions } from "./agent.js";
import { checkParts, partLimitsIn } from "./attachment.js";
import { ValidationError } from "./errors.js";
import { checkRateLimit } from "./rate-limit.js";
import { MemoryScope } from "./memory-scope.js";
import { PromptText, requirePrompt, type Text } from "./prompt-text.js";
import {
  NO_PROMPTS,
  checkSchema,
  checkTemplate,
  promptsOf,
  type TaskPrompts,
} from "./task-options.js";
import { checkReview } from "./review.js";
import { checkTools, isTool } from "./tool.js";
import {
  checkOptions,
  preview,
  requireArray,
  requireDuration,
  requireFunction,
  requireInstance,
  requireInteger,
  requireText,
} from "./validation.js";

/**
 * A task with a value of any type. `Task<unknown>` would not accept tasks of a known type, because
 * `with` takes a `T`.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyTask = Task<any>;

/**
 * Executes a task without a model. Returns the task's value. An error fails the task. A returned
 * `ToolResult` is unwrapped.
 */
export type TaskHandler<T> = (ctx: TaskContext) => Awaitable<T>;

/** Options of every kind of task. */
export interface CommonTaskOptions {
  /** The name. It becomes the id of the task. Default: `task-{position}`. */
  readonly name?: string | undefined;
  /**
   * The instructions. `{name}` variables are filled from the run's inputs. `{{name}}` becomes
   * `{name}`. Pass text from outside in a `prompt` text: its braces are not interpreted.
   */
  readonly description: Text;
  /**
   * A description of the expected result. Also a template. Default: {@link
   * DEFAULT_EXPECTED_OUTPUT}.
   */
  readonly expectedOutput?: Text | undefined;
  /**
   * Whether `description` and `expectedOutput` are templates. `false`: they are used unchanged.
   * Default true.
   */
  readonly template?: boolean | undefined;
  /** The agent that executes the task. Default: an agent created from the description. */
  readonly agent?: Agent | undefined;
  readonly model?: ModelRef | undefined;
  /** The tools of the created agent. Only for a task without `agent`. Default: none. */
  readonly tools?: readonly ToolLike[] | undefined;
  /** The limit of tool calls of the created agent. Only for a task without `agent`. Default 25. */
  readonly maxIterations?: number | undefined;
  /** Tasks whose outputs this task receives. Default: none. */
  readonly context?: readonly AnyTask[] | undefined;
  /** Limit of corrections of a text that does not match `outputType`. Default 3. */
  readonly maxOutputRetries?: number | undefined;
  readonly inputGuardrails?: readonly InputGuardrail[] | undefined;
  /**
   * Images, files and texts added to the user message. The constructor checks their first bytes.
   * The run checks the model's capabilities before it begins.
   */
  readonly attachments?: readonly ContentPart[] | undefined;
  /**
   * Limit of repetitions after a guardrail refused the output. A repetition receives the
   * guardrail's reason as feedback. Default 0.
   */
  readonly guardrailRetries?: number | undefined;
  /** Options of the task's model calls. They override the agent's options, field by field. */
  readonly modelOptions?: ModelOptions | undefined;
  /**
   * Scopes of the ensemble's `memoryStore`. Before the task, their entries are added to the prompt.
   * After the task, its output is written to them.
   */
  readonly memory?: ScopeName | MemoryScope | readonly (ScopeName | MemoryScope)[] | undefined;
  /**
   * Whether a person reviews the output before it is accepted. Overrides the ensemble's
   * `reviewPolicy`.
   */
  readonly review?: Review | undefined;
  /** Whether a person reviews the task before its start. */
  readonly beforeReview?: Review | undefined;
  /**
   * Whether a lesson is derived from the accepted output and added to the prompt in the next run.
   * Default false.
   */
  readonly reflect?: boolean | ReflectionOptions | undefined;
  /** A rate limit of the task's model calls, over all runs of a kernel. */
  readonly rateLimit?: RateLimit | undefined;
  /** Time limit of the task in milliseconds, including corrections and retries. Default: none. */
  readonly timeoutMs?: number | undefined;
}

/** Options of a task with a schema for its value. Only the schema determines `T`. */
export interface StructuredTaskOptions<T> extends CommonTaskOptions {
  readonly outputType: OutputSchema<T>;
  readonly handler?: TaskHandler<NoInfer<T> | string> | AnyTool | undefined;
  readonly outputGuardrails?: readonly OutputGuardrail<NoInfer<T>>[] | undefined;
}

/**
 * Options of a task without a schema. `T` is the return type of its handler, or string without a
 * handler.
 */
export interface PlainTaskOptions<T> extends CommonTaskOptions {
  readonly outputType?: undefined;
  readonly handler?: TaskHandler<T> | AnyTool | undefined;
  readonly outputGuardrails?: readonly OutputGuardrail<NoInfer<T>>[] | undefined;
}

/** The default of `expectedOutput`. */
const DEFAULT_EXPECTED_OUTPUT = "Produce a complete and accurate response to the task.";

const TASK_FIELDS = [
  ...[
    "name",
    "description",
    "expectedOutput",
    "template",
    "agent",
    "model",
    "tools",
    "maxIterations",
    "context",
    "outputType",
    "maxOutputRetries",
    "handler",
  ],
  ...[
    "inputGuardrails",
    "outputGuardrails",
    "attachments",
    "guardrailRetries",
    "modelOptions",
    "rateLimit",
    "timeoutMs",
  ],
  ...["memory", "review", "beforeReview", "reflect"],
];

interface AnyTaskOptions extends CommonTaskOptions {
  readonly outputType?: OutputSchema<unknown> | undefined;
  readonly handler?: TaskHandler<unknown> | AnyTool | undefined;
  readonly outputGuardrails?: readonly OutputGuardrail<never>[] | undefined;
}

function checkHandler(o: AnyTaskOptions): void {
  if (o.handler === undefined) return;
  if (typeof o.handler !== "function" && !isTool(o.handler)) {
    throw new ValidationError(
      `Task handler must be a function or a tool, got: ${preview(o.handler)}`,
    );
  }
  const both = (what: string, advice: string): never => {
    throw new ValidationError(
      `Task cannot have both a handler and ${what}. A handler runs deterministically without an ${advice}`,
    );
  };
  if (o.agent !== undefined) both("an explicit agent", "LLM; remove the agent.");
  if (o.model !== undefined) both("a model", "LLM; remove the model.");
  if (o.tools !== undefined && o.tools.length > 0)
    both("tools", "LLM; configure tools inside the handler instead.");
  if (o.maxIterations !== undefined)
    both("maxIterations", "iteration loop; remove the maxIterations.");
  if (o.rateLimit !== undefined) both("a rateLimit", "LLM; remove the rateLimit.");
  if (o.modelOptions !== undefined) both("modelOptions", "LLM; remove the modelOptions.");
  if (o.reflect !== undefined && o.reflect !== false)
    both("reflect", "LLM, so it has no prompt to improve; remove reflect.");
  if (o.attachments !== undefined && o.attachments.length > 0)
    both("attachments", "LLM; remove the attachments.");
}

function checkContext(o: AnyTaskOptions): void {
  requireArray("Task context", o.context);
  o.context?.forEach((task, index) => {
    if (task === undefined || task === null)
      throw new ValidationError(`Task context element at index ${index} must not be null`);
    requireInstance(`Task context element at index ${index}`, task, { type: Task, name: "Task" });
    const twin =
      o.agent !== undefined &&
      task.agent === o.agent &&
      task.context.length === 0 &&
      task.description === String(o.description) &&
      task.expectedOutput === String(o.expectedOutput ?? DEFAULT_EXPECTED_OUTPUT);
    if (twin) throw new ValidationError("Task cannot reference itself in context");
  });
}

function checkTask(o: AnyTaskOptions): void {
  checkOptions("Task", o, TASK_FIELDS, TASK_SYNONYMS);
  if (o.name !== undefined) requireText(o.name, "Task name must not be blank when set");
  requirePrompt(o.description, "Task description must not be blank");
  if (o.expectedOutput !== undefined)
    requirePrompt(o.expectedOutput, "Task expectedOutput must not be blank");
  checkTemplate(o);
  requireArray("Task tools", o.tools);
  checkTools("Task tool", o.tools ?? []);
  requireInteger("Task maxIterations", o.maxIterations, 1, "> 0 when set");
  if (o.agent !== undefined) requireInstance("Task agent", o.agent, { type: Agent, name: "Agent" });
  checkModel("Task model", o.model);
  checkContext(o);
  checkSchema(o.outputType);
  requireInteger("Task maxOutputRetries", o.maxOutputRetries, 0);
  requireInteger("Task guardrailRetries", o.guardrailRetries, 0);
  for (const field of ["inputGuardrails", "outputGuardrails"] as const) {
    requireArray(`Task ${field}`, o[field]);
    o[field]?.forEach((g: unknown, i) => {
      if (typeof g !== "function")
        throw new ValidationError(
          `Task ${field} element at index ${i} must be a function, got: ${preview(g)}`,
        );
    });
  }
  requireArray("Task attachments", o.attachments);
  checkParts("Task attachment", o.attachments ?? [], partLimitsIn(o));
  checkModelOptions("Task modelOptions", o.modelOptions);
  checkRateLimit("Task rateLimit", o.rateLimit);
  requireDuration("Task timeoutMs", o.timeoutMs);
  checkReview("Task review", o.review);
  checkReview("Task beforeReview", o.beforeReview);
  checkReflect(o.reflect);
  checkHandler(o);
}

function checkReflect(reflect: unknown): void {
  if (reflect === undefined || typeof reflect === "boolean") return;
  checkOptions("Task reflect", reflect, ["model", "strategy"]);
  const { model, strategy } = reflect as {
    readonly model?: unknown;
    readonly strategy?: { readonly reflect?: unknown };
  }; // checked next
  checkModel("Task reflect model", model);
  if (strategy !== undefined)
    requireFunction("Task reflect strategy.reflect", strategy?.reflect ?? null);
}

function scopesOf(memory: unknown): MemoryScope[] {
  if (memory === undefined) return [];
  const scopes = (Array.isArray(memory) ? (memory as readonly unknown[]) : [memory]).map(
    (scope) => {
      if (scope instanceof MemoryScope) return scope;
      if (typeof scope === "string" || typeof scope === "function")
        return MemoryScope.of(scope as ScopeName); // its result is checked in the run
      throw new ValidationError(
        scope === null || scope === undefined
          ? "MemoryScope must not be null"
          : `Task memory must be names or MemoryScopes, got: ${preview(scope)}`,
      );
    },
  );
  const twice = scopes.find((scope, i) => scopes.findIndex((other) => other.isSameAs(scope)) < i);
  if (twice !== undefined)
    throw new ValidationError(`Task memory names scope '${twice.name}' twice`);
  return scopes;
}

const list = <X>(items: readonly X[] | undefined): readonly X[] =>
  items === undefined || items.length === 0 ? NONE : Object.freeze([...items]);
const NONE: readonly never[] = Object.freeze([]);

/**
 * A unit of work: a description, an expected output, and an agent or a handler. Default: an agent
 * created from the description. Immutable. `T` is the type of the task's value: the type of the
 * schema, of the handler's return value, or string.
 *
 * @throws ValidationError from the constructor for every mistake that can be detected without a
 * run.
 */
export class Task<T = string> {
  readonly name: string | undefined;
  readonly description: string;
  readonly expectedOutput: string;
  /** Whether `description` and `expectedOutput` are templates. */
  readonly template: boolean;
  readonly agent: Agent | undefined;
  readonly model: ModelRef | undefined;
  readonly tools: readonly ToolLike[];
  readonly maxIterations: number | undefined;
  readonly context: readonly AnyTask[];
  readonly outputType: OutputSchema<T> | undefined;
  readonly maxOutputRetries: number;
  readonly handler: TaskHandler<T> | AnyTool | undefined;
  readonly inputGuardrails: readonly InputGuardrail[];
  /** Declared without `T`: a parameter for tasks with any value then accepts this task. */
  readonly outputGuardrails: readonly OutputGuardrail<never>[];
  readonly guardrailRetries: number;
  readonly attachments: readonly ContentPart[];
  readonly modelOptions: ModelOptions | undefined;
  readonly rateLimit: RateLimit | undefined;
  readonly timeoutMs: number | undefined;
  readonly memory: readonly MemoryScope[];
  readonly review: Review | undefined;
  readonly beforeReview: Review | undefined;
  readonly reflect: boolean | ReflectionOptions;
  /**
   * The texts that were passed as `prompt` texts. `description` and `expectedOutput` contain them
   * unfilled.
   */
  readonly #prompts: TaskPrompts;

  constructor(options: PlainTaskOptions<T>);
  constructor(options: StructuredTaskOptions<T>);
  constructor(options: PlainTaskOptions<T> | StructuredTaskOptions<T>) {
    checkTask(options);
    this.name = options.name;
    this.description = String(options.description);
    this.expectedOutput = String(options.expectedOutput ?? DEFAULT_EXPECTED_OUTPUT);
    this.template = options.template ?? true;
    this.#prompts = promptsOf(options);
    this.agent = options.agent;
    this.model = options.model;
    this.tools = list(options.tools);
    this.maxIterations = options.maxIterations;
    this.context = list(options.context);
    this.outputType = options.outputType;
    this.maxOutputRetries = options.maxOutputRetries ?? 3;
    // A handler of a structured task may also return the value's JSON text.
    this.handler = options.handler as TaskHandler<T> | AnyTool | undefined;
    this.inputGuardrails = list(options.inputGuardrails);
    this.outputGuardrails = list(options.outputGuardrails);
    this.guardrailRetries = options.guardrailRetries ?? 0;
    this.attachments = list(options.attachments);
    this.modelOptions = options.modelOptions;
    this.rateLimit = options.rateLimit;
    this.timeoutMs = options.timeoutMs;
    this.memory = list(scopesOf(options.memory));
    this.review = options.review;
    this.beforeReview = options.beforeReview;
    this.reflect = options.reflect ?? false;
    Object.freeze(this);
  }

  /** Creates a task from a description, and an expected output or the schema of the value. */
  static of(description: Text, expectedOutput?: Text): Task;
  static of<T>(description: Text, outputType: OutputSchema<T>): Task<T>;
  static of(description: Text, second?: Text | OutputSchema<unknown>): Task | AnyTask {
    return (typeof second === "object" && !(second instanceof PromptText)) ||
      typeof second === "function"
      ? new Task<unknown>({ description, outputType: second })
      : new Task({ description, expectedOutput: second });
  }

  /**
   * Returns the `prompt` texts of a task. Returns none for a task whose texts are already filled.
   */
  static promptsOf(task: AnyTask): TaskPrompts {
    return #prompts in task ? task.#prompts : NO_PROMPTS;
  }

  /**
   * Returns a copy with changed options. `undefined` resets an option to its default. The copy is a
   * different task: to look up an output, pass the task that ran.
   */
  with<U>(
    changes: Partial<CommonTaskOptions> & {
      readonly outputType: OutputSchema<U>;
      readonly handler?: TaskHandler<NoInfer<U> | string> | AnyTool | undefined;
      readonly outputGuardrails?: readonly OutputGuardrail<NoInfer<U>>[] | undefined;
    },
  ): Task<U>;
  with(
    changes: Partial<CommonTaskOptions> & {
      readonly outputType?: never;
      readonly handler?: TaskHandler<T> | AnyTool | undefined;
      readonly outputGuardrails?: readonly OutputGuardrail<T>[] | undefined;
    },
  ): Task<T>;
  with(changes: object): unknown {
    const options = { ...this, ...Task.promptsOf(this), ...changes };
    return new Task(options as unknown as PlainTaskOptions<T>); // checked by the constructor
  }
}

/** The type of the value of a task type. */
export type OutputOf<K> = K extends Task<infer T> ? T : never;
