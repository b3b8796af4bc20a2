import type { CaptureModeDefinition } from "../../../contracts/capture.js";
import type { ChatMessage } from "../../../contracts/chat-model.js";
import type { ContentPart } from "../../../contracts/content.js";
import type { CapturedMessage } from "../../../contracts/captured-message.js";
import type { PartSummary } from "../../../contracts/part-summary.js";
import type {
  LlmInteraction,
  ModelCallRecord,
  ToolCallRecord,
  ToolCallTrace,
} from "../../../contracts/trace.js";
import type { TraceKeeper } from "./keeper.js";
import type { TracedFiles } from "./traced-files.js";
import type { WallClock } from "./wall-clock.js";
import type { Fields } from "../../../util/objects.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { textWithParts } from "../../shared/message-text.js";
import { spanOf } from "./wall-clock.js";
import { isObject } from "../../../util/objects.js";
import { parseJson } from "../../../util/json/parse-json.js";
import { messageOf } from "../../../util/errors.js";

function responseType(record: ModelCallRecord): LlmInteraction["responseType"] {
  if (record.response === undefined) return "ERROR";
  return (record.response.message.toolCalls?.length ?? 0) > 0 ? "TOOL_CALLS" : "FINAL_ANSWER";
}

/** Creates the traces of model and tool calls. */
export class CallTraces {
  readonly #mode: CaptureModeDefinition;
  readonly #keeper: TraceKeeper;
  readonly #clock: WallClock;
  /**
   * Processed messages. A conversation grows from call to call, and each message is processed once.
   */
  readonly #messages = new Map<ChatMessage, CapturedMessage>();
  readonly #files: TracedFiles;

  constructor(
    mode: CaptureModeDefinition,
    o: { readonly keeper: TraceKeeper; readonly clock: WallClock; readonly files: TracedFiles },
  ) {
    this.#mode = mode;
    this.#keeper = o.keeper;
    this.#clock = o.clock;
    this.#files = o.files;
  }

  /**
   * Returns tool calls in the order of their starts, which is the order of the requests. Parallel
   * calls end in any order.
   */
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
      ...this.#parts(record.parts),
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
    const sent = messages.map((message) => this.#message(message));
    return response === undefined
      ? sent
      : [...sent, this.#message(response.message, response.reasoning)];
  }

  /** Returns the field for images and files, or no field if there are none. */
  #parts(parts: readonly ContentPart[] | undefined): { readonly parts?: readonly PartSummary[] } {
    const kept = this.#files.summaries(parts ?? []);
    return kept.length === 0 ? {} : { parts: kept };
  }

  /** Returns the field for the reasoning of a message, in modes that keep it. */
  #reasoning(message: ChatMessage, whole?: string): { readonly reasoning?: string } {
    if (this.#mode.capturesReasoning !== true || message.role !== "assistant") return {};
    const texts = message.reasoning?.map(({ text }) => text) ?? [];
    const text = whole ?? texts.filter((block) => block !== "").join("\n\n");
    return text === "" ? {} : { reasoning: this.#keeper.text(text) };
  }

  #message(message: ChatMessage, reasoning?: string): CapturedMessage {
    const known = this.#messages.get(message);
    if (known !== undefined) return known;
    const keeper = this.#keeper;
    const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
    const captured: CapturedMessage = Object.freeze({
      role: message.role,
      content: keeper.text(textWithParts(message)),
      toolCalls: calls.map((call) => ({ name: call.name, arguments: keeper.text(call.arguments) })),
      toolName: message.role === "tool" ? message.toolName : undefined,
      ...this.#parts(partsOfMessage(message)),
      ...this.#reasoning(message, reasoning),
    });
    this.#messages.set(message, captured);
    return captured;
  }
}

function partsOfMessage(message: ChatMessage): readonly ContentPart[] | undefined {
  if (message.role === "tool") return message.parts;
  return typeof message.content === "string" ? undefined : message.content;
}
