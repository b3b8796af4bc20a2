import type {
  ChatMessage,
  ChatResponse,
  FinishReason,
  Purpose,
  ToolCall,
} from "../../contracts/chat-model.js";

import type { CallResult } from "./recording-format.js";
import type { RecordedTool } from "./recording.js";
import type { Fields } from "../../util/objects.js";
import { FileFormatError } from "../../contracts/state-errors.js";
import { CaptureMode } from "../../contracts/capture.js";
import { preview } from "../../contracts/validation.js";
import {
  Misshapen,
  requireFields,
  instantOf,
  lineOfFault,
  listField,
  numberField,
  objectsOf,
  optionalText,
  textField,
} from "./fields.js";
import { toolKey } from "./keys.js";
import { Recording } from "./recording.js";

/**
 * Returns the position of a call, which identifies a request in a trace. The attempts of a task are
 * sequential. Their order therefore distinguishes them.
 */
export function positionKey({
  task,
  iteration,
  attempt,
}: {
  readonly task: string;
  readonly iteration: number;
  readonly attempt: number;
}): string {
  return JSON.stringify([task, iteration, attempt]);
}

/**
 * Creates a recording from a trace: from an object, or from `text`, the JSON of schema 1.x.
 * @throws FileFormatError for an invalid trace, another schema, or a trace with less data than a
 * replay needs.
 */
export function readTrace(value: unknown, source: string, text?: string): Recording {
  try {
    const trace = requireFields(value, "A trace");
    checkTrace(trace, source);
    const recording = new Recording(source, "trace");
    const run = { id: textField(trace, "ensembleId"), startedAt: instantOf(trace, "startedAt") };
    recording.addRun(run);
    for (const task of objectsOf(trace, "taskTraces", "A task's trace"))
      new TaskReader(recording, run.id, run.startedAt.getTime()).add(task);
    return recording;
  } catch (error) {
    if (!(error instanceof Misshapen)) throw error;
    const line = text === undefined ? undefined : lineOfFault(error, value, text);
    throw new FileFormatError(
      `${source}${line === undefined ? "" : `:${line}`} is not a trace that can be replayed: ${error.message}`,
      { path: source, line },
      { hint: "Name what recordTo(file) wrote, or a trace of captureMode FULL." },
    );
  }
}

function checkTrace(trace: Fields, source: string): void {
  const { schemaVersion, captureMode } = trace;
  if (typeof schemaVersion !== "string" || !/^1\.\d+$/.test(schemaVersion)) {
    throw new Misshapen(
      `schema ${preview(schemaVersion)} is not supported, only 1.x`,
      trace,
      "schemaVersion",
    );
  }
  listField(trace, "taskTraces"); // a value without this list is no trace
  if (captureMode === CaptureMode.FULL) return;
  throw new FileFormatError(
    `${source} was recorded with captureMode ${preview(captureMode)}, which omits data that a replay needs`,
    { path: source },
    { hint: 'Run it with captureMode: "FULL", or record it with recordTo(file).' },
  );
}

/** Reads the calls of one task, and of the workers that it delegated to. */
class TaskReader {
  constructor(
    readonly recording: Recording,
    readonly run: string,
    readonly startMs: number,
  ) {}

  add(trace: Fields): void {
    const task = textField(trace, "taskId");
    const attempt = numberField(trace, "attempt");
    const calls = objectsOf(trace, "llmInteractions", "A model call").filter(
      ({ purpose }) => purpose !== "remote", // such calls come from other processes
    );
    calls.forEach((call, index) => this.#call(task, call, calls[index + 1]));
    for (const holder of [...calls, trace])
      for (const tool of objectsOf(holder, "toolCalls", "A tool call"))
        this.#tool(task, attempt, tool);
    for (const delegation of objectsOf(trace, "delegations", "A delegation")) {
      const { workerTrace } = delegation;
      if (workerTrace !== undefined && workerTrace !== null)
        this.add(requireFields(workerTrace, "A worker's trace", delegation, "workerTrace"));
    }
  }

  #call(task: string, call: Fields, next: Fields | undefined): void {
    const place = {
      task,
      iteration: numberField(call, "iterationIndex"),
      attempt: numberField(call, "attempt"),
    };
    // A trace has only the message of a failure. A retry means that the failure was retryable,
    // unless a fallback was used.
    const tried =
      next !== undefined &&
      next["iterationIndex"] === place.iteration &&
      numberField(next, "attempt") > place.attempt;
    const retried = tried && next["provider"] === call["provider"];
    this.recording.addCall({
      ...place,
      keys: [positionKey(place)],
      run: this.run,
      purpose: textField(call, "purpose") as Purpose, // compared only
      provider: textField(call, "provider"),
      modelId: textField(call, "modelId"),
      request: undefined,
      messages: conversationOf(call),
      ...this.#span(call),
      answered: false,
      refused: false,
      ...callResult(call, retried),
    });
  }

  #tool(task: string, attempt: number, call: Fields): void {
    const outcome = tracedOutcome(call);
    if (outcome === undefined) return;
    const [tool, argumentsText] = [textField(call, "toolName"), textField(call, "arguments")];
    const keys = [toolKey(tool, argumentsText, "")];
    this.recording.addTool({
      keys,
      run: this.run,
      task,
      attempt,
      tool,
      arguments: argumentsText,
      ...this.#span(call),
      ...outcome,
    });
  }

  #span(fields: Fields): { readonly endMs: number; readonly ms: number } {
    const end = instantOf(fields, "completedAt").getTime();
    return { endMs: end - this.startMs, ms: end - instantOf(fields, "startedAt").getTime() };
  }
}

/** Returns the sent messages, without the answer at their end. */
function conversationOf(call: Fields): readonly ChatMessage[] | undefined {
  const messages = call["messages"];
  if (!Array.isArray(messages) || messages.length === 0) return undefined;
  const read = messages.map(
    (message) => requireFields(message, "A message") as unknown as ChatMessage,
  ); // compared only, if its fields exist
  return read.at(-1)?.role === "assistant" && call["responseType"] !== "ERROR"
    ? read.slice(0, -1)
    : read;
}

/**
 * Codes of errors that end a call from outside: a time limit, a cancelled run, a failed concurrent
 * task.
 */
const CALLED_OFF: readonly string[] = ["AE_TASK_TIMEOUT", "AE_RUN_TIMEOUT", "AE_RUN_CANCELLED"];

function callResult(call: Fields, retried: boolean): CallResult {
  const provider = textField(call, "provider");
  const modelId = textField(call, "modelId");
  if (call["responseType"] === "ERROR") {
    const message = optionalText(call, "error") ?? "the model call failed";
    const code = optionalText(call, "errorCode");
    if (code !== undefined && CALLED_OFF.includes(code)) return { aborted: true };
    // An empty field means that the error was not one of the framework. It is not retried. Traces
    // of other programs have no such field.
    if (code === undefined && Object.hasOwn(call, "errorCode") && !retried)
      return { error: { kind: "other", name: "Error", message } };
    // other ends of a call are not failures of the model
    const coded = code !== undefined && /^AE_MODEL_/.test(code) ? { code } : {};
    return {
      error: {
        kind: "model",
        name: "ModelCallError",
        message,
        ...coded,
        provider,
        modelId,
        retryable: retried,
      },
    };
  }
  const toolCalls = toolCallsOf(call);
  const response: ChatResponse = {
    message: {
      role: "assistant",
      content: textField(call, "responseText"),
      ...(toolCalls.length > 0 && { toolCalls }),
    },
    // the trace builder writes it in this form
    finishReason: (optionalText(call, "finishReason") ?? "stop") as FinishReason,
    usage: {
      inputTokens: knownTokens(call, "inputTokens"),
      outputTokens: knownTokens(call, "outputTokens"),
      cachedInputTokens: knownTokens(call, "cachedInputTokens"),
      reasoningTokens: knownTokens(call, "reasoningTokens"),
    },
    modelId,
  };
  return { response };
}

/**
 * Returns the calls that the model requested. They come from its message, or else from the executed
 * calls. Ids are generated, because a trace has none.
 */
function toolCallsOf(call: Fields): readonly ToolCall[] {
  const reply: unknown = Array.isArray(call["messages"]) ? call["messages"].at(-1) : undefined;
  const answered = reply !== undefined ? requireFields(reply, "A message") : {};
  const asked =
    answered["role"] === "assistant" && Array.isArray(answered["toolCalls"])
      ? answered["toolCalls"]
      : undefined;
  return (asked ?? listField(call, "toolCalls")).map((value, index) => {
    const fields = requireFields(value, "A tool call");
    return {
      id: `call-${index + 1}`,
      name: optionalText(fields, "name") ?? textField(fields, "toolName"),
      arguments: textField(fields, "arguments"),
    };
  });
}

/** Returns a count. -1 in the trace represents a count that the vendor did not report. */
function knownTokens(call: Fields, name: string): number | undefined {
  const tokens = call[name];
  return typeof tokens === "number" && tokens >= 0 ? tokens : undefined;
}

/**
 * Returns `undefined` for calls that did not reach the tool. The replayed run decides about them
 * again.
 */
function tracedOutcome(call: Fields): Pick<RecordedTool, "result" | "error"> | undefined {
  const text = textField(call, "result");
  const structured = call["structuredOutput"] ?? undefined;
  switch (call["outcome"]) {
    case "SUCCESS":
      return { result: { ok: true, text, ...(structured !== undefined && { structured }) } };
    case "FAILURE":
      return { result: { ok: false, text: text.replace(/^Error: /, "") } };
    case "ERROR":
      return {
        error: { kind: "other", name: "Error", message: text.replace(/^Tool error: /, "") },
      };
    case "TIMED_OUT": {
      const ms = / did not finish within (\d+(?:\.\d+)?) ms$/.exec(text)?.[1];
      return {
        error: {
          kind: "timeout",
          name: "TaskTimeoutError",
          message: text.replace(/^Tool error: /, ""),
          timeoutMs: Number(ms ?? 0),
        },
      };
    }
    default:
      return undefined;
  }
}
