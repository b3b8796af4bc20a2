import { readFile } from "node:fs/promises";
import type { ExecutionTrace } from "../../contracts/trace.js";
import type { LlmCall } from "../../contracts/hooks.js";
import { FileFormatError } from "../../contracts/state-errors.js";
import { messageOf } from "../../util/errors.js";
import { asCount, asFields, asList, asText, type Fields } from "../../util/objects.js";

/** A tool call of a trace. */
export interface MeasuredTool {
  readonly name: string;
  readonly arguments: string;
  readonly result: string;
  readonly isError: boolean;
  readonly ms: number;
}

/** An answered model call of a trace. Unknown tokens are absent. */
export interface MeasuredCall {
  readonly ms: number;
  readonly text: string;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly cachedInputTokens: number | undefined;
  readonly reasoningTokens: number | undefined;
  readonly tools: readonly MeasuredTool[];
}

/**
 * The calls of one attempt of a task, in their order. A whole attempt is drawn, because its calls
 * depend on each other.
 */
export type MeasuredTask = readonly MeasuredCall[];

/** Outcomes of attempts that were stopped from outside. Their calls do not measure the task. */
const BROKEN: readonly string[] = ["running", "failed", "aborted"];

/**
 * The measured tasks of traces. Indexed by task, agent and model, by agent and model, and by model.
 */
export class MeasuredTasks {
  readonly #byKey = new Map<string, MeasuredTask[]>();

  /** Adds the tasks of a trace. @throws FileFormatError for a file that is not a trace. */
  async add(source: string | ExecutionTrace): Promise<void> {
    const trace = typeof source === "string" ? await readTraceFile(source) : source;
    const tasks = asFields(trace)?.["taskTraces"];
    if (!Array.isArray(tasks)) throw notATrace(typeof source === "string" ? source : "traces");
    for (const task of tasks) this.#addTask(asFields(task) ?? {});
  }

  /**
   * Returns the most exact measurements for a call. Returns an empty list if its model was not
   * measured.
   */
  of({ taskId, agentRole, model: { modelId } }: LlmCall): readonly MeasuredTask[] {
    for (const key of keysOf(taskId, agentRole, modelId)) {
      const found = this.#byKey.get(key);
      if (found !== undefined) return found;
    }
    return [];
  }

  #addTask(task: Fields): void {
    for (const delegation of asList(task["delegations"])) {
      const worker = asFields(asFields(delegation)?.["workerTrace"]);
      if (worker !== undefined) this.#addTask(worker);
    }
    const calls = asList(task["llmInteractions"])
      .map((call) => asFields(call) ?? {})
      .filter(({ responseType, purpose }) => responseType !== "ERROR" && purpose !== "remote");
    const modelId = asText(calls[0]?.["modelId"]);
    if (modelId === "" || BROKEN.includes(asText(task["outcome"]))) return;
    const measured = calls.map(callOf);
    const models = new Set([modelId, withoutVersion(modelId)]);
    for (const model of models)
      for (const key of keysOf(asText(task["taskId"]), asText(task["agentRole"]), model))
        this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), measured]);
  }
}

function keysOf(taskId: string, role: string, model: string): readonly string[] {
  return [[model, role, taskId], [model, role], [model]].map((key) => JSON.stringify(key));
}

/**
 * Returns the id of a model without its date. Vendors answer with the dated id: `gpt-5-2025-08-07`
 * for `gpt-5`.
 */
function withoutVersion(modelId: string): string {
  return modelId.replace(/-(?:\d{4}-\d{2}-\d{2}|\d{8})$/, "");
}

function callOf(call: Fields): MeasuredCall {
  return {
    ms: spanMs(call),
    text: asText(call["responseText"]),
    inputTokens: asCount(call["inputTokens"]),
    outputTokens: asCount(call["outputTokens"]),
    cachedInputTokens: asCount(call["cachedInputTokens"]),
    reasoningTokens: asCount(call["reasoningTokens"]),
    tools: asList(call["toolCalls"]).map((value) => {
      const tool = asFields(value) ?? {};
      return {
        name: asText(tool["toolName"]),
        arguments: asText(tool["arguments"]),
        result: asText(tool["result"]),
        isError: tool["outcome"] !== "SUCCESS",
        ms: spanMs(tool),
      };
    }),
  };
}

/** Returns the duration between the instants, which are dates in a trace and texts in its file. */
function spanMs({ startedAt, completedAt }: Fields): number {
  const at = (value: unknown): number => new Date(value as Date | string).getTime();
  const ms = at(completedAt) - at(startedAt);
  return ms > 0 ? ms : 0;
}

async function readTraceFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as unknown;
  } catch (cause) {
    throw notATrace(path, cause);
  }
}

function notATrace(path: string, cause?: unknown): FileFormatError {
  const why = cause === undefined ? "it has no taskTraces" : messageOf(cause);
  return new FileFormatError(
    `${path} is not a trace: ${why}`,
    { path, line: undefined },
    { hint: "Pass output.trace, or a file that trace.save(path) wrote.", cause },
  );
}
