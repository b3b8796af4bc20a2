import { ENSEMBLE_SYNONYMS } from "../contracts/synonyms.js";
import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { RunOptions } from "../contracts/run.js";
import type { Inputs } from "../contracts/types.js";
import { Agent, checkModel, checkModelOptions } from "../contracts/agent.js";
import { checkCostConfiguration } from "../contracts/cost.js";
import { ValidationError } from "../contracts/errors.js";
import { checkPriority } from "../contracts/delegation-request.js";
import { CALLBACK_EVENTS } from "../contracts/events.js";
import { HierarchicalConstraints } from "../contracts/constraints.js";
import { checkInputType } from "./typed-inputs.js";
import { checkRunValues } from "../contracts/run-value.js";
import { SERVICE_OPTIONS, SHARED_NAME } from "../contracts/service-options.js";
import { checkServiceOptions } from "./service-options.js";
import { checkShape } from "./shape.js";
import { checkRateLimit } from "../contracts/rate-limit.js";
import { Task } from "../contracts/task.js";
import {
  checkOptions,
  preview,
  requireArray,
  requireBoolean,
  requireDelay,
  requireDuration,
  requireFunction,
  requireInstance,
  requireInteger,
  requireOneOf,
  requireText,
} from "../contracts/validation.js";
import { isObject } from "../util/objects.js";

const CALLBACKS = Object.keys(CALLBACK_EVENTS);
/** The names of all options of an ensemble. */
export const ENSEMBLE_OPTIONS: readonly string[] = [
  ...[
    "name",
    "description",
    "agents",
    "tasks",
    "phases",
    "loops",
    "graph",
    "model",
    "workflow",
    "agentSynthesizer",
    "inputs",
    "inputType",
    "parallelErrorStrategy",
    "maxConcurrency",
    "maxDelegationDepth",
    "maxHandoffs",
    "delegationPolicies",
    "hierarchicalConstraints",
    "managerModel",
    "managerModelOptions",
    "managerMaxIterations",
    "managerPromptStrategy",
    "prompts",
  ],
  ...[
    "streaming",
    "memory",
    "memoryStore",
    "memoryErrors",
    "reviewHandler",
    "reviewPolicy",
    "reflectionStore",
    "contextFormat",
    "costConfiguration",
    "captureMode",
    "traceExporter",
    "maxToolOutputLength",
    "toolLogTruncateLength",
    "toolTimeoutMs",
    "verbose",
    "rateLimit",
    "listeners",
    "on",
    "plugins",
    "kernel",
    ...SERVICE_OPTIONS,
    ...CALLBACKS,
  ],
];
/** The names of all options of a run. */
export const RUN_OPTIONS: readonly string[] = [
  "signal",
  "timeoutMs",
  "maxToolOutputLength",
  "toolLogTruncateLength",
  "captureMode",
  "tags",
  "runId",
  "bindings",
  "throwOnError",
  "cancelGraceMs",
  "listeners",
  "priority",
  "values",
  "parent",
];

function requireObject(what: string, value: unknown): void {
  if (value !== undefined && (typeof value !== "object" || value === null || Array.isArray(value)))
    throw new ValidationError(`${what} must be an object, got: ${preview(value)}`);
}

function requireOutputLength(what: string, value: unknown): void {
  requireInteger(what, value, -1, "-1 (no limit) or more");
}

function checkMembers(
  what: string,
  values: readonly unknown[] | undefined,
  type: Parameters<typeof requireInstance>[2],
): void {
  requireArray(`Ensemble ${what}`, values);
  values?.forEach((value, index) => {
    requireInstance(`Ensemble ${what}[${index}]`, value, type);
  });
}

/** Refuses invalid options of an ensemble. @throws ValidationError */
export function checkEnsembleOptions(o: EnsembleOptions): void {
  checkOptions("Ensemble", o, ENSEMBLE_OPTIONS, ENSEMBLE_SYNONYMS);
  if (o.name !== undefined && !(typeof o.name === "string" && SHARED_NAME.test(o.name)))
    throw new ValidationError(
      `Ensemble name must be 1 to 64 letters, digits, - or _, got: ${preview(o.name)}`,
    );
  if (o.description !== undefined)
    requireText(o.description, "Ensemble description must not be blank when set");
  checkMembers("agents", o.agents, { type: Agent, name: "Agent" });
  checkMembers("tasks", o.tasks, { type: Task, name: "Task" });
  checkModel("Ensemble model", o.model);
  if (o.workflow !== undefined)
    requireText(o.workflow, "Ensemble workflow must not be blank when set");
  if (o.agentSynthesizer !== undefined)
    requireFunction(
      "Ensemble agentSynthesizer.synthesize",
      (o.agentSynthesizer as { readonly synthesize?: unknown }).synthesize ?? null,
    );
  requireObject("Ensemble inputs", o.inputs);
  checkInputType(o.inputType);
  if (o.parallelErrorStrategy === null)
    throw new ValidationError(
      "Ensemble parallelErrorStrategy must not be null for PARALLEL workflow",
    );
  if (
    o.parallelErrorStrategy !== undefined &&
    o.parallelErrorStrategy !== "FAIL_FAST" &&
    o.parallelErrorStrategy !== "CONTINUE_ON_ERROR"
  ) {
    throw new ValidationError(
      `Ensemble parallelErrorStrategy must be "FAIL_FAST" or "CONTINUE_ON_ERROR", got: ${preview(o.parallelErrorStrategy)}`,
    );
  }
  requireInteger("Ensemble maxConcurrency", o.maxConcurrency, 1, "> 0");
  requireInteger("Ensemble maxDelegationDepth", o.maxDelegationDepth, 1, "> 0");
  requireInteger("Ensemble maxHandoffs", o.maxHandoffs, 0);
  checkShape(o);
  checkDelegation(o);
  requireObject("Ensemble prompts", o.prompts);
  if (![undefined, true, false, "guarded"].includes(o.streaming))
    throw new ValidationError(
      `Ensemble streaming must be true, false or "guarded", got: ${preview(o.streaming)}`,
    );
  checkState(o);
  requireOutputLength("Ensemble maxToolOutputLength", o.maxToolOutputLength);
  requireOutputLength("Ensemble toolLogTruncateLength", o.toolLogTruncateLength);
  requireDuration("Ensemble toolTimeoutMs", o.toolTimeoutMs);
  requireBoolean("Ensemble verbose", o.verbose);
  checkRateLimit("Ensemble rateLimit", o.rateLimit);
  checkListeners("Ensemble", o.listeners);
  checkCallbacks("Ensemble", o);
  requireArray("Ensemble plugins", o.plugins);
  checkExporters(o.traceExporter);
  checkServiceOptions(o);
}

function checkMethods(
  what: string,
  value: unknown,
  methods: readonly string[],
  hint: string,
): void {
  if (value === undefined) return;
  const missing = methods.find(
    (method) => typeof (value as Readonly<Record<string, unknown>> | null)?.[method] !== "function",
  );
  if (missing !== undefined)
    throw new ValidationError(`${what} must have a method ${missing}, got: ${preview(value)}`, {
      hint,
    });
}

/** @throws ValidationError unless the value is true, false or a window. */
function checkShortTerm(shortTerm: unknown): void {
  if (!isObject(shortTerm)) return requireBoolean("Ensemble memory.shortTerm", shortTerm);
  checkOptions("Ensemble memory.shortTerm", shortTerm, ["window"]);
  const { window = Number.NaN } = shortTerm as { readonly window?: unknown }; // checked next
  requireInteger("Ensemble memory.shortTerm window", window, 1);
}

function checkMemory(memory: EnsembleOptions["memory"]): void {
  if (memory === undefined) return;
  checkOptions("Ensemble memory", memory, [
    "shortTerm",
    "longTerm",
    "entity",
    "longTermMaxResults",
  ]);
  checkShortTerm(memory.shortTerm);
  checkMethods(
    "Ensemble memory.longTerm",
    memory.longTerm,
    ["store", "retrieve"],
    "Use LongTermMemory.of(store), or LongTermMemory.embeddings(model).",
  );
  checkMethods(
    "Ensemble memory.entity",
    memory.entity,
    ["put", "get", "getAll"],
    "Use EntityMemory.inMemory().",
  );
  if (
    memory.shortTerm !== true &&
    !isObject(memory.shortTerm) &&
    memory.longTerm === undefined &&
    memory.entity === undefined
  ) {
    throw new ValidationError(
      "EnsembleMemory must have at least one memory type enabled: shortTerm=true, longTerm, or entityMemory",
      {
        hint: "A store for the memory of single tasks is the option memoryStore.",
      },
    );
  }
  const { longTermMaxResults } = memory;
  if (
    longTermMaxResults !== undefined &&
    !(Number.isInteger(longTermMaxResults) && longTermMaxResults > 0)
  )
    throw new ValidationError(
      `EnsembleMemory longTermMaxResults must be > 0, got: ${preview(longTermMaxResults)}`,
    );
}

/** Checks the options of memory, reviews, reflection, cost and capture. */
function checkState(o: EnsembleOptions): void {
  checkMemory(o.memory);
  checkMethods(
    "Ensemble memoryStore",
    o.memoryStore,
    ["store", "retrieve", "evict", "clear"],
    "Use MemoryStore.inMemory(), or MemoryStore.file(path).",
  );
  requireOneOf("Ensemble memoryErrors", o.memoryErrors, ["fail", "warn"]);
  if (o.reviewHandler !== undefined && typeof o.reviewHandler !== "function")
    throw new ValidationError(
      `Ensemble reviewHandler must be a function, got: ${preview(o.reviewHandler)}`,
      {
        hint: "Use ReviewHandler.console(), or plugins: [review({ store: reviewInbox() })].",
      },
    );
  requireOneOf("Ensemble reviewPolicy", o.reviewPolicy, [
    "NEVER",
    "AFTER_EVERY_TASK",
    "AFTER_LAST_TASK",
  ]);
  checkMethods(
    "Ensemble reflectionStore",
    o.reflectionStore,
    ["store", "retrieve"],
    "Use ReflectionStore.file(path), or ReflectionStore.inMemory().",
  );
  if (o.contextFormat !== undefined)
    requireText(o.contextFormat, "Ensemble contextFormat must not be blank when set");
  checkCostConfiguration("Ensemble costConfiguration", o.costConfiguration);
  if (o.captureMode !== undefined)
    requireText(o.captureMode, "Ensemble captureMode must not be blank when set");
}

function checkDelegation(o: EnsembleOptions): void {
  checkModel("Ensemble managerModel", o.managerModel);
  checkModelOptions("Ensemble managerModelOptions", o.managerModelOptions);
  requireInteger(
    "Ensemble managerMaxIterations",
    o.managerMaxIterations,
    1,
    "> 0 for HIERARCHICAL workflow",
  );
  if (o.managerPromptStrategy !== undefined) {
    const { buildSystemPrompt, buildUserPrompt } = o.managerPromptStrategy as {
      readonly buildSystemPrompt?: unknown;
      readonly buildUserPrompt?: unknown;
    };
    requireFunction("Ensemble managerPromptStrategy.buildSystemPrompt", buildSystemPrompt ?? null);
    requireFunction("Ensemble managerPromptStrategy.buildUserPrompt", buildUserPrompt ?? null);
  }
  if (
    o.hierarchicalConstraints !== undefined &&
    !(o.hierarchicalConstraints instanceof HierarchicalConstraints)
  ) {
    throw new ValidationError(
      `Ensemble hierarchicalConstraints must be HierarchicalConstraints, got: ${preview(o.hierarchicalConstraints)}`,
    );
  }
  requireArray("Ensemble delegationPolicies", o.delegationPolicies);
  o.delegationPolicies?.forEach((policy: unknown, i) =>
    requireFunction(`Ensemble delegationPolicies[${i}]`, policy ?? null),
  );
}

function checkListeners(what: string, listeners: readonly object[] | undefined): void {
  requireArray(`${what} listeners`, listeners);
  for (const listener of listeners ?? []) checkCallbacks(`a listener of ${what}`, listener);
}

function checkCallbacks(what: string, listener: object): void {
  requireObject(what, listener);
  for (const name of [...CALLBACKS, "on"])
    requireFunction(`${name} of ${what}`, (listener as Readonly<Record<string, unknown>>)[name]);
}

function checkExporters(exporters: EnsembleOptions["traceExporter"]): void {
  if (exporters === undefined) return;
  for (const exporter of Array.isArray(exporters)
    ? (exporters as readonly unknown[])
    : [exporters]) {
    const method =
      typeof exporter === "object" && exporter !== null
        ? (exporter as { readonly export?: unknown }).export
        : exporter;
    if (typeof method !== "function")
      throw new ValidationError(
        `Ensemble traceExporter must be a function or have an export method, got: ${preview(exporter)}`,
      );
  }
}

/** @throws ValidationError for an unknown or invalid run option. */
export function checkRunOptions(o: RunOptions): void {
  checkOptions("run()", o, RUN_OPTIONS);
  if (o.signal !== undefined && !(o.signal instanceof AbortSignal))
    throw new ValidationError(`signal must be an AbortSignal, got: ${preview(o.signal)}`);
  requireDuration("timeoutMs", o.timeoutMs);
  requireOutputLength("maxToolOutputLength", o.maxToolOutputLength);
  requireOutputLength("toolLogTruncateLength", o.toolLogTruncateLength);
  if (o.captureMode !== undefined)
    requireText(o.captureMode, "captureMode must not be blank when set");
  requireObject("tags", o.tags);
  if (o.runId !== undefined) requireText(o.runId, "runId must not be blank when set");
  requireFunction("bindings", o.bindings);
  requireBoolean("throwOnError", o.throwOnError);
  requireDelay("cancelGraceMs", o.cancelGraceMs);
  checkListeners("run()", o.listeners);
  checkRunValues(o.values);
  if (o.priority !== undefined) checkPriority("run() priority", o.priority);
}

/**
 * Returns the inputs as a record. Returns an empty record if there are none.
 * @throws ValidationError for inputs that are not a plain record.
 */
export function checkInputs(inputs: unknown): Inputs {
  requireObject("run() inputs", inputs);
  return (inputs ?? {}) as Inputs; // just checked
}
