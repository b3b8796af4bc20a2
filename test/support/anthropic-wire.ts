// The documents of Anthropic's Messages API, for the loopback server.
import { pieces, type Wire, type WireAnswer } from "./model-server.js";

type Block = Readonly<Record<string, unknown>>;

const ID = "msg_loopback";
const MODEL = "loopback-model-2026";

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function stopReason(answer: WireAnswer): string {
  return answer.finishReason ?? ((answer.toolCalls ?? []).length > 0 ? "tool_use" : "end_turn");
}

function blocks(answer: WireAnswer): readonly Block[] {
  const calls = (answer.toolCalls ?? []).map((call) => ({
    type: "tool_use",
    id: call.id,
    name: call.name,
    input: parsed(call.arguments),
  }));
  return [
    ...(answer.text === undefined || answer.text === ""
      ? []
      : [{ type: "text", text: answer.text }]),
    ...calls,
  ];
}

/** A complete answer. */
function document(answer: WireAnswer): Record<string, unknown> {
  return {
    id: ID,
    type: "message",
    role: "assistant",
    model: answer.model ?? MODEL,
    content: blocks(answer),
    stop_reason: stopReason(answer),
    stop_sequence: null,
    ...(answer.usage === undefined ? {} : { usage: answer.usage }),
  };
}

/** The beginning of a stream. */
export function messageStart(usage?: Readonly<Record<string, unknown>>): Block {
  const message = {
    id: ID,
    type: "message",
    role: "assistant",
    model: MODEL,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
  return {
    type: "message_start",
    message: usage === undefined ? message : { ...message, usage: { ...usage, output_tokens: 1 } },
  };
}

/** A text block of a stream, in the pieces given. */
export function textEvents(index: number, texts: readonly string[]): readonly Block[] {
  return [
    { type: "content_block_start", index, content_block: { type: "text", text: "" } },
    ...texts.map((text) => ({
      type: "content_block_delta",
      index,
      delta: { type: "text_delta", text },
    })),
    { type: "content_block_stop", index },
  ];
}

function toolEvents(
  index: number,
  call: { readonly id: string; readonly name: string; readonly arguments: string },
): readonly Block[] {
  return [
    {
      type: "content_block_start",
      index,
      content_block: { type: "tool_use", id: call.id, name: call.name, input: {} },
    },
    ...pieces(call.arguments).map((partial_json) => ({
      type: "content_block_delta",
      index,
      delta: { type: "input_json_delta", partial_json },
    })),
    { type: "content_block_stop", index },
  ];
}

/** The end of a stream. */
export function messageEnd(
  reason: string,
  usage?: Readonly<Record<string, unknown>>,
): readonly Block[] {
  return [
    {
      type: "message_delta",
      delta: { stop_reason: reason, stop_sequence: null },
      ...(usage === undefined ? {} : { usage }),
    },
    { type: "message_stop" },
  ];
}

/** The same answer as a stream. */
function events(answer: WireAnswer): readonly Block[] {
  const { usage } = answer;
  const texts = answer.text === undefined || answer.text === "" ? [] : [pieces(answer.text)];
  const calls = answer.toolCalls ?? [];
  return [
    messageStart(usage),
    { type: "ping" },
    ...texts.flatMap((text) => textEvents(0, text)),
    ...calls.flatMap((call, index) => toolEvents(texts.length + index, call)),
    ...messageEnd(
      stopReason(answer),
      usage === undefined
        ? undefined
        : { output_tokens: usage["output_tokens"], input_tokens: null },
    ),
  ];
}

/** The Messages API of the loopback server. */
export const ANTHROPIC_WIRE: Wire = { basePath: "", document, events };
