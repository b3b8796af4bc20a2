import type { ChatResponse, FinishReason, ToolCall, Usage } from "../../../contracts/chat-model.js";
import { BadAnswer, ErrorDocument } from "./bad-answer.js";

type Fields = Readonly<Record<string, unknown>>;

const FINISH_REASONS: ReadonlyMap<unknown, FinishReason> = new Map<unknown, FinishReason>([
  ["stop", "stop"],
  ["tool_calls", "tool_calls"],
  ["function_call", "tool_calls"],
  ["length", "length"],
  ["content_filter", "content_filter"],
]);

/** `value` when it is a plain object, else `undefined`. */
export function asFields(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined; // any object can be read by key
}

function tokens(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** The usage as far as it was reported; `undefined` when nothing of it was. */
export function readUsage(value: unknown): Usage | undefined {
  const usage = asFields(value);
  if (usage === undefined) return undefined;
  const counts = {
    inputTokens: tokens(usage["prompt_tokens"]),
    outputTokens: tokens(usage["completion_tokens"]),
    cachedInputTokens: tokens(asFields(usage["prompt_tokens_details"])?.["cached_tokens"]),
    reasoningTokens: tokens(asFields(usage["completion_tokens_details"])?.["reasoning_tokens"]),
  };
  const reported = Object.entries(counts).filter(([, count]) => count !== undefined);
  return reported.length === 0 ? undefined : Object.fromEntries(reported);
}

/** The reason in our words. Some servers say "stop" beside tool calls, or nothing at all: what is there counts then. */
function readFinishReason(value: unknown, o: { readonly hasToolCalls: boolean; readonly refused: boolean }): FinishReason {
  if (o.refused) return "content_filter";
  const reason = FINISH_REASONS.get(value) ?? "other";
  return o.hasToolCalls && (reason === "stop" || reason === "other") ? "tool_calls" : reason;
}

/** The fields that a whole answer and the pieces of a stream have in common. */
export function readIdentity(document: Fields): Pick<ChatResponse, "responseId" | "modelId"> {
  const { id, model } = document;
  return {
    ...(typeof id === "string" && id !== "" ? { responseId: id } : {}),
    ...(typeof model === "string" && model !== "" ? { modelId: model } : {}),
  };
}

/** A text of the message; absent and null are empty. */
function readText(message: Fields, name: "content" | "refusal"): string {
  const value = message[name] ?? "";
  if (typeof value !== "string") throw new BadAnswer(`choices[0].message.${name} is not a text`, { shown: value });
  return value;
}

/** The JSON text of the arguments; some servers send the object itself, or nothing for none. */
export function readArguments(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "{}" : JSON.stringify(value);
}

function readToolCall(value: unknown, index: number, responseId: string | undefined): ToolCall {
  const call = asFields(value);
  const target = asFields(call?.["function"]);
  const name = target?.["name"];
  if (typeof name !== "string" || name === "") throw new BadAnswer(`choices[0].message.tool_calls[${index}] names no function`, { shown: value });
  const id = call?.["id"];
  return { id: typeof id === "string" && id !== "" ? id : fallbackCallId(responseId, index), name, arguments: readArguments(target?.["arguments"]) };
}

/** An id for a tool call that came without one; unique within the conversation as far as the answers have ids. */
export function fallbackCallId(responseId: string | undefined, index: number): string {
  return `${responseId ?? "call"}_${index + 1}`;
}

function parseJson(text: string): unknown {
  if (text.trim() === "") throw new BadAnswer("The answer is empty");
  try {
    return JSON.parse(text);
  } catch {
    const isPage = text.trimStart().startsWith("<");
    if (isPage) throw new BadAnswer("The answer is a web page instead of JSON", { shown: text, hint: "Check baseURL; it usually ends in /v1." });
    throw new BadAnswer("The answer is not valid JSON", { shown: text });
  }
}

/**
 * Reads a whole answer.
 * @throws BadAnswer naming the first part that is not as it must be; ErrorDocument when the server reports an error instead.
 */
export function readAnswer(text: string): ChatResponse {
  const document = asFields(parseJson(text));
  if (document === undefined) throw new BadAnswer("The answer is not a JSON object", { shown: text });
  if (document["error"] !== undefined && document["error"] !== null) throw new ErrorDocument(document);
  const choices = document["choices"];
  if (!Array.isArray(choices) || choices.length === 0) throw new BadAnswer("The answer has no choices", { shown: text });
  const choice = asFields(choices[0]);
  const message = asFields(choice?.["message"]);
  if (message === undefined) throw new BadAnswer("choices[0] has no message", { shown: choices[0] });
  const calls = message["tool_calls"] ?? [];
  if (!Array.isArray(calls)) throw new BadAnswer("choices[0].message.tool_calls is not a list", { shown: calls });
  const identity = readIdentity(document);
  const toolCalls = calls.map((call, index) => readToolCall(call, index, identity.responseId));
  const refusal = readText(message, "refusal");
  const content = readText(message, "content");
  return buildResponse({ content, refusal, toolCalls, finishReason: choice?.["finish_reason"], usage: readUsage(document["usage"]), identity });
}

/** Puts a response together from its parts, for whole and for streamed answers. A refusal stands in for the text. */
export function buildResponse(parts: {
  readonly content: string;
  readonly refusal: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: unknown;
  readonly usage: Usage | undefined;
  readonly identity: Pick<ChatResponse, "responseId" | "modelId">;
}): ChatResponse {
  const hasToolCalls = parts.toolCalls.length > 0;
  return {
    message: { role: "assistant", content: parts.content + parts.refusal, ...(hasToolCalls ? { toolCalls: parts.toolCalls } : {}) },
    finishReason: readFinishReason(parts.finishReason, { hasToolCalls, refused: parts.refusal !== "" }),
    ...(parts.usage === undefined ? {} : { usage: parts.usage }),
    ...parts.identity,
  };
}
