import type { ModelErrorCode } from "./model-error-code.js";
import { printableText } from "../util/printable.js";

const MARK = Symbol.for("agentensemble/error");

/** Types of values in errors. Other contracts merge their types into this interface. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- contracts merge their types into it
export interface ErrorContents {}

type Content<Name extends string> =
  ErrorContents extends Readonly<Record<Name, infer Type>> ? Type : unknown;

/** Details of every error of the framework, in addition to its message. */
export interface ErrorDetails {
  /** The error that caused this error. */
  readonly cause?: unknown;
  /** Advice: a change that solves the problem. */
  readonly hint?: string | undefined;
}

/**
 * Base class of all errors that the framework throws deliberately.
 *
 * `code` is stable (`AE_...`, listed in `docs/errors.md`). `message` may change. `output` is set on
 * errors that ended a run. It contains the finished work, the metrics and the trace. `isInstance`
 * and `find` also recognise errors created by another copy of this package.
 */
export class AgentEnsembleError extends Error {
  /** Stable identifier of the kind of failure. */
  readonly code: string;
  /** A remedy, if the message does not name one. */
  readonly hint?: string;
  /** The partial output of the run that this error ended. Not enumerable. */
  declare readonly output?: Content<"ensembleOutput">;

  constructor(code: string, message: string, details: ErrorDetails = {}) {
    super(printableText(`${message}`), "cause" in details ? { cause: details.cause } : undefined); // may quote a server
    this.name = new.target.name;
    this.code = code;
    if (details.hint !== undefined) this.hint = printableText(details.hint);
  }

  get [MARK](): true {
    return true;
  }

  /** Returns whether `e` is an instance of this class, also from another copy of the package. */
  static isInstance<C extends abstract new (...args: never[]) => AgentEnsembleError>(
    this: C,
    e: unknown,
  ): e is InstanceType<C> {
    if (e instanceof this) return true;
    if (!(e instanceof Error) || (e as { [MARK]?: unknown })[MARK] !== true) return false;
    for (let c: unknown = e.constructor; typeof c === "function"; c = Object.getPrototypeOf(c)) {
      if (c.name === this.name) return true;
    }
    return false;
  }

  /** Returns the first error of this class in `e` and its `cause` chain. */
  static find<C extends abstract new (...args: never[]) => AgentEnsembleError>(
    this: C,
    e: unknown,
  ): InstanceType<C> | undefined {
    const seen = new Set<unknown>();
    for (let current = e; current instanceof Error && !seen.has(current); current = current.cause) {
      if (AgentEnsembleError.isInstance.call(this, current)) return current as InstanceType<C>; // checked by isInstance
      seen.add(current);
    }
    return undefined;
  }
}

/** A mistake in the configuration. Thrown by constructors, or by `run()` before any spending. */
export class ValidationError extends AgentEnsembleError {
  /**
   * `inputs`: the caller's inputs do not match the `inputType`. `messageId`: a message to add is
   * already in the thread, or a message to replace is missing. Absent for all other mistakes.
   */
  readonly about?: "inputs" | "messageId";
  constructor(
    message: string,
    { about, ...details }: ErrorDetails & Partial<Pick<ValidationError, "about">> = {},
  ) {
    super("AE_VALIDATION", message, details);
    if (about !== undefined) this.about = about;
  }
}

/** A task failed. `cause` is the specific error. `completedTaskOutputs` are the earlier outputs. */
export class TaskExecutionError extends AgentEnsembleError {
  readonly taskDescription: string;
  readonly agentRole: string;
  readonly completedTaskOutputs: readonly Content<"taskOutput">[];
  constructor(
    message: string,
    context: {
      readonly taskDescription: string;
      readonly agentRole: string;
      readonly completedTaskOutputs: readonly Content<"taskOutput">[];
    },
    details: ErrorDetails = {},
  ) {
    super("AE_TASK_EXECUTION", message, details);
    this.taskDescription = context.taskDescription;
    this.agentRole = context.agentRole;
    this.completedTaskOutputs = Object.freeze([...context.completedTaskOutputs]);
  }
}

/** An agent could not execute its task. `cause` is the error of its model or handler. */
export class AgentExecutionError extends AgentEnsembleError {
  readonly agentRole: string;
  readonly taskDescription: string;
  constructor(
    message: string,
    context: { readonly agentRole: string; readonly taskDescription: string },
    details: ErrorDetails = {},
  ) {
    super("AE_AGENT_EXECUTION", message, details);
    this.agentRole = context.agentRole;
    this.taskDescription = context.taskDescription;
  }
}

/** A call to a chat model failed. Retry policies read `retryable` and `retryAfterMs`. */
export class ModelCallError extends AgentEnsembleError {
  readonly provider: string;
  readonly modelId: string;
  /** HTTP status, if there was one. */
  readonly status?: number;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** The vendor's requested waiting time in milliseconds. */
  readonly retryAfterMs?: number;
  /** The text streamed before the failure. */
  readonly partialText?: string;
  /** Number of attempts before the error reached the caller. 1 without retries. */
  readonly attempts: number;
  constructor(
    message: string,
    context: {
      readonly provider: string;
      readonly modelId: string;
      readonly code?: ModelErrorCode;
      readonly status?: number | undefined;
      readonly retryable?: boolean;
      readonly retryAfterMs?: number | undefined;
      readonly partialText?: string | undefined;
      readonly attempts?: number;
    },
    details: ErrorDetails = {},
  ) {
    super(context.code ?? "AE_MODEL_CALL", message, details);
    this.provider = context.provider;
    this.modelId = context.modelId;
    if (context.status !== undefined) this.status = context.status;
    this.retryable = context.retryable ?? false;
    if (context.retryAfterMs !== undefined) this.retryAfterMs = context.retryAfterMs;
    if (context.partialText !== undefined) this.partialText = context.partialText;
    this.attempts = context.attempts ?? 1;
  }
}

/** A tool threw. Agents pass the text to the model. Only custom executors receive this error. */
export class ToolExecutionError extends AgentEnsembleError {
  readonly toolName: string;
  readonly toolInput: string;
  constructor(
    message: string,
    context: { readonly toolName: string; readonly toolInput: string },
    details: ErrorDetails = {},
  ) {
    super("AE_TOOL_EXECUTION", message, details);
    this.toolName = context.toolName;
    this.toolInput = context.toolInput;
  }
}

/** A mistake in the configuration of a tool prevents its use. The task fails. */
export class ToolConfigurationError extends AgentEnsembleError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("AE_TOOL_CONFIGURATION", message, details);
  }
}

/** The model continued to request tools after it was asked to stop. */
export class MaxIterationsExceededError extends AgentEnsembleError {
  readonly agentRole: string;
  readonly taskDescription: string;
  /** The configured maximum of tool calls. */
  readonly maxIterations: number;
  /** Tool calls that were executed. */
  readonly toolCallsMade: number;
  constructor(context: {
    readonly agentRole: string;
    readonly taskDescription: string;
    readonly maxIterations: number;
    readonly toolCallsMade: number;
    /** How the message names the task. Default: its description. */
    readonly taskLabel?: string | undefined;
  }) {
    const { agentRole, taskDescription, maxIterations, toolCallsMade } = context;
    const { taskLabel = taskDescription } = context;
    super(
      "AE_MAX_ITERATIONS",
      `Agent '${agentRole}' exceeded maximum iterations (${maxIterations}). Tool calls made: ${toolCallsMade}. Task: '${taskLabel}'. Consider increasing maxIterations or simplifying the task.`,
    );
    this.agentRole = agentRole;
    this.taskDescription = taskDescription;
    this.maxIterations = maxIterations;
    this.toolCallsMade = toolCallsMade;
  }
}

/** Template variables have no value. The error names all of them. */
export class PromptTemplateError extends AgentEnsembleError {
  readonly missingVariables: readonly string[];
  readonly template: string;
  /** The name of the task with the text, else its description. Absent outside of tasks. */
  readonly task?: string;
  constructor(
    missingVariables: readonly string[],
    template: string,
    { task, ...details }: ErrorDetails & { readonly task?: string } = {},
  ) {
    const owner = task === undefined || task === template ? "" : ` Task: '${task.slice(0, 100)}'.`;
    const shown = `${template.slice(0, 100)}${template.length > 100 ? "..." : ""}`;
    super(
      "AE_PROMPT_TEMPLATE",
      `Missing template variables: [${missingVariables.join(", ")}]. Provide them in ensemble.run(inputs).${owner} Template: '${shown}'`,
      {
        hint: "For text from outside write prompt`...${text}...`, or set template: false on the task.",
        ...details,
      },
    );
    this.missingVariables = Object.freeze([...missingVariables]);
    this.template = template;
    if (task !== undefined) this.task = task;
  }
}

/** None of the model's texts matched the task's schema. */
export class OutputParsingError extends AgentEnsembleError {
  /** The last refused text. */
  readonly rawOutput: string;
  /** One message per attempt. */
  readonly parseErrors: readonly string[];
  readonly attemptCount: number;
  constructor(
    message: string,
    context: { readonly rawOutput: string; readonly parseErrors: readonly string[] },
    details: ErrorDetails = {},
  ) {
    super("AE_OUTPUT_PARSING", message, details);
    this.rawOutput = context.rawOutput;
    this.parseErrors = Object.freeze([...context.parseErrors]);
    this.attemptCount = context.parseErrors.length;
  }
}

/** A guardrail refused a task's input or output, or could not judge it. */
export class GuardrailViolationError extends AgentEnsembleError {
  readonly type: "INPUT" | "OUTPUT";
  readonly violationMessage: string;
  readonly taskDescription: string;
  readonly agentRole: string;
  /** The name passed to `namedGuardrail`, else the function's name. */
  readonly guardrailName: string | undefined;
  constructor(
    context: {
      readonly type: "INPUT" | "OUTPUT";
      readonly violationMessage: string;
      readonly taskDescription: string;
      readonly agentRole: string;
      readonly guardrailName?: string | undefined;
      /** How the message names the task. Default: its description. */
      readonly taskLabel?: string | undefined;
    },
    details: ErrorDetails = {},
  ) {
    const { type, violationMessage, taskDescription, agentRole } = context;
    const { taskLabel = taskDescription } = context;
    super(
      "AE_GUARDRAIL_VIOLATION",
      `${type} guardrail violation on agent '${agentRole}' task '${taskLabel}': ${violationMessage}`,
      details,
    );
    this.type = type;
    this.violationMessage = violationMessage;
    this.taskDescription = taskDescription;
    this.agentRole = agentRole;
    this.guardrailName = context.guardrailName;
  }
}

/** The run was cancelled by a signal, `handle.cancel()`, a failed sibling task or `dispose()`. */
export class RunCancelledError extends AgentEnsembleError {
  /** Whether the run ended because the kernel was disposed. Default false. */
  readonly isShutdown: boolean;

  constructor(message: string, details: ErrorDetails & { readonly isShutdown?: boolean } = {}) {
    super("AE_RUN_CANCELLED", message, details);
    this.isShutdown = details.isShutdown ?? false;
  }
}

/**
 * The run waits for an event that may occur after the process has ended, for example a review
 * decision. Thrown by a tap, a tool or a handler. Work in progress ends, no further task starts,
 * and the run rejects with this error. The exit reason is SUSPENDED. The outputs so far are kept.
 */
export class RunSuspendedError extends RunCancelledError {
  override readonly code: string = "AE_RUN_SUSPENDED";
}

/** The run exceeded its `timeoutMs`. */
export class RunTimeoutError extends AgentEnsembleError {
  readonly timeoutMs: number;
  constructor(timeoutMs: number) {
    super("AE_RUN_TIMEOUT", `The run did not finish within ${timeoutMs} ms`, {
      hint: "Raise timeoutMs in the run options, or set timeoutMs of single tasks.",
    });
    this.timeoutMs = timeoutMs;
  }
}

/** A task or a tool exceeded its `timeoutMs`. */
export class TaskTimeoutError extends AgentEnsembleError {
  readonly timeoutMs: number;
  constructor(what: string, timeoutMs: number) {
    super("AE_TASK_TIMEOUT", `${what} did not finish within ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
  }
}

/** A model call waited longer than its rate limit allows. */
export class RateLimitTimeoutError extends AgentEnsembleError {
  readonly rateLimit: Content<"rateLimit">;
  readonly waitTimeoutMs: number;
  constructor(rateLimit: Content<"rateLimit">, waitTimeoutMs: number) {
    super(
      "AE_RATE_LIMIT_TIMEOUT",
      `Rate limit exceeded: waited ${waitTimeoutMs}ms but no token became available. Limit: ${rateLimit.requests} requests per ${rateLimit.periodMs}ms. Increase waitTimeoutMs or reduce concurrency.`,
    );
    this.rateLimit = rateLimit;
    this.waitTimeoutMs = waitTimeoutMs;
  }
}

/** A tap of a hook refused a step, and gave the reason as a text. */
export class HookRejectedError extends AgentEnsembleError {
  readonly reason: string;
  constructor(reason: string, context: { readonly hook: string; readonly tap: string }) {
    super("AE_HOOK_REJECTED", `Rejected by '${context.tap}' in ${context.hook}: ${reason}`);
    this.reason = reason;
  }
}

/** A plugin failed in its bindings, its start, its disposal or one of its taps. */
export class PluginError extends AgentEnsembleError {
  readonly plugin: string;
  /** The hook or life-cycle step of the failure, for instance `beforeTask` or `start`. */
  readonly hook: string;
  constructor(
    message: string,
    context: { readonly plugin: string; readonly hook: string },
    details: ErrorDetails = {},
  ) {
    super("AE_PLUGIN", message, details);
    this.plugin = context.plugin;
    this.hook = context.hook;
  }
}

/**
 * Ends a run without a failure. Thrown by a review, or by a tool that asks a person. The work in
 * progress ends first. The run then resolves with the exit reason USER_EXIT_EARLY, or TIMEOUT if
 * `timedOut`.
 */
export class ExitEarlySignal extends AgentEnsembleError {
  readonly timedOut: boolean;
  constructor(message: string, o: { readonly timedOut?: boolean | undefined } = {}) {
    super("AE_EXIT_EARLY", message);
    this.timedOut = o.timedOut ?? false;
  }
}

/**
 * Returns whether a thrown value ends the run without a failure: an early exit, or a suspension.
 * Code that catches errors of tasks, tools or runs must rethrow such values.
 */
export function endsRun(thrown: unknown): thrown is ExitEarlySignal | RunSuspendedError {
  return ExitEarlySignal.isInstance(thrown) || RunSuspendedError.isInstance(thrown);
}

/** Returns the reason of a refusal for a model: the text of the refusing tap, else the message. */
export function reasonOf(refusal: Error): string {
  return (refusal as { readonly reason?: string }).reason ?? refusal.message;
}
