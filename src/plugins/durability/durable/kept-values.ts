import type { ChatResponse, Purpose } from "../../../contracts/chat-model.js";
import type { PromptSection, RestoredCall } from "../../../contracts/hooks.js";
import type { KeptEntry } from "../../../contracts/journal.js";
import type { SpentUsage } from "../../../contracts/usage.js";
import type { ToolResultExtra } from "../../../contracts/tool-result.js";
import type { StoredError } from "../../shared/stored-error.js";
import type { Definition } from "./definition.js";
import { JournalError } from "../../../contracts/journal-errors.js";
import { asList, isObject } from "../../../util/objects.js";

/** A model call in the form of an entry. */
export interface KeptCall {
  readonly provider: string;
  readonly modelId: string;
  readonly purpose: Purpose;
  readonly iteration: number;
  readonly response: ChatResponse;
  /** Earlier failed attempts of the same call. */
  readonly failed?: readonly FailedAttempt[] | undefined;
}

/** A failed attempt of a model call. `unknown`: the vendor may have charged for it. */
export interface FailedAttempt {
  readonly provider: string;
  readonly modelId: string;
  readonly unknown?: true | undefined;
}

/** The value of an entry of kind `call`. */
export interface CallValue extends KeptCall {
  /**
   * The agent that made the call. Set for the first call of the attempt, and for calls after a
   * transfer to another agent.
   */
  readonly agentRole?: string | undefined;
  /** The prompt sections that plugins added to the attempt. Set for its first call. */
  readonly sections?: readonly PromptSection[] | undefined;
}

/** A call that is repeated when the output of its task is judged again. */
export interface JudgingCall extends KeptCall {
  readonly hash: string;
}

/** The value of an entry of kind `task`. */
export interface KeptTask {
  readonly raw: string;
  readonly parsed?: unknown;
  readonly toolCallCount: number;
  /** The agent that finished the task, after a handoff. */
  readonly agentRole?: string | undefined;
  readonly calls: readonly KeptCall[];
  readonly judging?: readonly JudgingCall[] | undefined;
  /** Set when a review ended the run after the task. */
  readonly exit?: true | undefined;
  /** Set when the task started other tasks, so that its output alone does not replace it. */
  readonly parent?: true | undefined;
  readonly definition: Definition;
}

/** The value of an entry of kind `failed`: a failure that another task has received. */
export interface KeptFailure {
  readonly error: StoredError;
  readonly calls: readonly KeptCall[];
  /** The permanently failed attempts of the call. */
  readonly failed: readonly FailedAttempt[];
}

/** The value of an entry of kind `tool`. */
export type KeptTool =
  | ({
      readonly ok: boolean;
      readonly output: string;
      readonly structured?: unknown;
    } & ToolResultExtra)
  | { readonly error: StoredError };

/** The value of an entry of kind `intent`. */
export interface KeptIntent {
  readonly idempotencyKey: string;
  readonly tool: string;
  /** Set when a person decided that the call may be repeated. */
  readonly settled?: "again" | undefined;
}

/** The fields of an entry's value. @throws JournalError for a value that no version writes. */
function entryFields(
  { key, value }: KeptEntry,
  names: readonly string[],
): Readonly<Record<string, unknown>> {
  if (isObject(value) && names.every((name) => value[name] !== undefined)) return value;
  throw new JournalError(`Entry '${key}' of the journal is damaged`, {
    hint: "Delete the run, or fork it from the task of this entry.",
  });
}

/** @throws JournalError for a damaged entry. */
export function callIn(entry: KeptEntry): CallValue {
  const fields = entryFields(entry, ["provider", "modelId", "purpose", "iteration", "response"]);
  return fields as unknown as CallValue; // the engine checks the response like that of any model
}

/** @throws JournalError for a damaged entry. */
export function taskIn(entry: KeptEntry): KeptTask {
  const fields = entryFields(entry, ["raw", "calls", "definition"]);
  return fields as unknown as KeptTask; // the engine checks the output
}

/** @throws JournalError for a damaged entry. */
export function failureIn(entry: KeptEntry): KeptFailure {
  return entryFields(entry, ["error", "calls", "failed"]) as unknown as KeptFailure;
}

/** @throws JournalError for a damaged entry. */
export function toolIn(entry: KeptEntry): KeptTool {
  const fields = entryFields(entry, []);
  const names = fields["error"] === undefined ? ["ok", "output"] : ["error"];
  return entryFields(entry, names) as unknown as KeptTool;
}

/** @throws JournalError for a damaged entry. */
export function intentIn(entry: KeptEntry): KeptIntent {
  return entryFields(entry, ["idempotencyKey", "tool"]) as unknown as KeptIntent;
}

/** Returns the calls whose entries were removed because their tasks were repeated. */
export function voidCallsIn(entry: KeptEntry): readonly KeptCall[] {
  return entryFields(entry, ["calls"])["calls"] as readonly KeptCall[];
}

/**
 * Returns the model calls of the entries, each once. The calls of a finished task are also in the
 * entry of the task.
 */
export function callsIn(entries: readonly KeptEntry[]): readonly KeptCall[] {
  const finished = new Set(
    entries.flatMap((entry) =>
      entry.kind === "task" && taskIn(entry).parent !== true ? [entry.task] : [],
    ),
  );
  return entries.flatMap((entry): readonly KeptCall[] => {
    if (entry.kind === "call") return finished.has(entry.task) ? [] : [withoutText(callIn(entry))];
    if (entry.kind !== "task" || !finished.has(entry.task)) return [];
    const { calls, judging = [] } = taskIn(entry);
    return [...calls, ...judging];
  });
}

/** Returns whether secrets were removed from an entry when it was written. */
export function isRedacted({ value }: KeptEntry): boolean {
  return isObject(value) && value["redacted"] === true;
}

/** Returns the usage of failed attempts, for a task that does not repeat them. */
export function usageOfFailed(
  failed: readonly FailedAttempt[],
  who: Pick<SpentUsage, "taskId" | "agentRole" | "purpose">,
): readonly SpentUsage[] {
  return failed.map(({ provider, modelId, unknown }) => ({
    ...who,
    provider,
    modelId,
    ...(unknown !== true && { inputTokens: 0, outputTokens: 0 }),
  }));
}

/** Returns the usage of a stored call, with its failed attempts. */
export function usageOfCall(call: KeptCall): readonly SpentUsage[] {
  return restoredCalls(call).map(({ provider, modelId, purpose, response }) => ({
    provider,
    modelId: response.modelId ?? modelId,
    purpose,
    ...knownUsage(response.usage),
  }));
}

/** Returns the known usage of an answer. It is empty for an answer without usage. */
function knownUsage(usage: ChatResponse["usage"]): Partial<SpentUsage> {
  if (usage === undefined) return { inputTokens: 0, outputTokens: 0 };
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usage;
  return Object.fromEntries(
    Object.entries({ inputTokens, outputTokens, cachedInputTokens, reasoningTokens }).filter(
      ([, count]) => typeof count === "number" && count >= 0,
    ),
  );
}

/**
 * Returns the calls of a stored call in the form that the engine restores, failed attempts first.
 */
export function restoredCalls(call: KeptCall): readonly RestoredCall[] {
  const { failed, provider, modelId, purpose, iteration, response } = call;
  const attempts = (asList(failed) as readonly FailedAttempt[]).map((attempt) => ({
    provider: attempt.provider,
    modelId: attempt.modelId,
    purpose,
    iteration,
    response: EMPTY,
    ...(attempt.unknown === true && { response: UNKNOWN }),
  }));
  return [...attempts, { provider, modelId, purpose, iteration, response }];
}

const EMPTY: ChatResponse = Object.freeze({
  message: Object.freeze({ role: "assistant", content: "" }),
  finishReason: "stop",
});
const UNKNOWN: ChatResponse = Object.freeze({
  ...EMPTY,
  usage: Object.freeze({ inputTokens: -1, outputTokens: -1 }),
});

/** Returns a call without its texts, for a finished task. */
export function withoutText(call: KeptCall): KeptCall {
  const { usage, modelId, finishReason } = call.response;
  const response: ChatResponse = {
    ...EMPTY,
    finishReason,
    ...(usage !== undefined && { usage }),
    ...(modelId !== undefined && { modelId }),
  };
  const { provider, modelId: asked, purpose, iteration, failed } = call;
  return {
    provider,
    modelId: asked,
    purpose,
    iteration,
    response,
    ...(failed !== undefined && { failed }),
  };
}
