import type { CaptureModeDefinition } from "../../../contracts/capture.js";
import type { ChatMessage } from "../../../contracts/chat-model.js";
import type { ContentPart } from "../../../contracts/content.js";
import type {
  CapturedMessage,
  LlmInteraction,
  ModelCallRecord,
  ToolCallRecord,
  ToolCallTrace,
} from "../../../contracts/trace.js";
import type { TraceKeeper } from "./keeper.js";
import type { WallClock } from "./wall-clock.js";
import type { Fields } from "../../../util/objects.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { spanOf } from "./wall-clock.js";
import { isObject } from "../../../util/objects.js";
import { parseJson } from "../../../util/json/parse-json.js";
import { messageOf } from "../../../util/errors.js";

function responseType(record: ModelCallRecord): LlmInteraction["responseType"] {
  if (record.response === undefined) return "ERROR";
  return (record.response.message.toolCalls?.length ?? 0) > 0 ? "TOOL_CALLS" : "FINAL_ANSWER";
}

/** The text of a message; an image is named by its media type. */
export function tracedText({ content }: ChatMessage, images = true): string {
  if (!Array.isArray(content)) return content as string; // checked where it is kept
  return (content as readonly ContentPart[])
    .flatMap((part) =>
      part.type === "text"
        ? [part.text]
        : images
          ? [`[${part.type}: ${part.mediaType ?? "unknown type"}]`]
          : [],
    )
    .join("\n");
}

/** Makes the traces of model and tool calls. */
export class CallTraces {
  readonly #mode: CaptureModeDefinition;
  readonly #keeper: TraceKeeper;
  readonly #clock: WallClock;
  /** A conversation grows from call to call: each of its messages is looked at once. */
  readonly #messages = new Map<ChatMessage, CapturedMessage>();

  constructor(mode: CaptureModeDefinition, keeper: TraceKeeper, clock: WallClock) {
    this.#mode = mode;
    this.#keeper = keeper;
    this.#clock = clock;
  }

  /** In the order of their starts, which is that of the requests: parallel calls end in any order. */
  tools(records: readonly ToolCallRecord[]): readonly ToolCallTrace[] {
    const ordered =
      records.length > 1 ? [...records].sort((a, b) => a.startedMs - b.startedMs) : records;
    return ordered.map((record) => this.#tool(record));
  }

  #tool(record: ToolCallRecord): ToolCallTrace {
    const keeper = this.#keeper;
    return {
      toolName: record.toolName,
      arguments: keeper.text(record.arguments),
      parsedInput: this.#mode.parsesToolInput ? this.#parsedInput(record.arguments) : undefined,
      result: keeper.text(record.result),
      structuredOutput: keeper.value(record.structured),
      ...spanOf(this.#clock, record.startedMs, record.endedMs),
      outcome: record.outcome,
    };
  }

  #parsedInput(text: string): Fields {
    const value = parseJson(text);
    const kept = isObject(value) ? this.#keeper.value(value) : {};
    return typeof kept === "object" && kept !== null ? (kept as Fields) : {}; // JSON
  }

  interaction(record: ModelCallRecord): LlmInteraction {
    const { usage, response, error } = record;
    const { startedAt, completedAt, durationMs } = spanOf(
      this.#clock,
      record.startedMs,
      record.startedMs + usage.latencyMs,
    );
    const keeper = this.#keeper;
    return {
      iterationIndex: record.iteration,
      attempt: usage.attempt,
      purpose: usage.purpose,
      provider: usage.provider,
      modelId: keeper.name(usage.modelId),
      startedAt,
      completedAt,
      latencyMs: durationMs,
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      cachedInputTokens: usage.cachedInputTokens,
      reasoningTokens: usage.reasoningTokens,
      cost: usage.cost,
      responseType: responseType(record),
      responseText: keeper.text(response?.message.content ?? ""),
      finishReason:
        response?.finishReason === undefined ? undefined : keeper.name(response.finishReason),
      error: error === undefined ? undefined : keeper.text(messageOf(error)),
      errorCode: AgentEnsembleError.isInstance(error) ? error.code : undefined,
      toolCalls: this.tools(record.tools),
      messages: this.#conversation(record),
    };
  }

  #conversation({ messages, response }: ModelCallRecord): readonly CapturedMessage[] {
    if (messages === undefined) return [];
    const all = response === undefined ? messages : [...messages, response.message];
    return all.map((message) => this.#message(message));
  }

  #message(message: ChatMessage): CapturedMessage {
    const known = this.#messages.get(message);
    if (known !== undefined) return known;
    const keeper = this.#keeper;
    const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
    const captured: CapturedMessage = Object.freeze({
      role: message.role,
      content: keeper.text(tracedText(message)),
      toolCalls: calls.map((call) => ({ name: call.name, arguments: keeper.text(call.arguments) })),
      toolName: message.role === "tool" ? message.toolName : undefined,
    });
    this.#messages.set(message, captured);
    return captured;
  }
}
