// The documents of OpenAI's Responses API, for the loopback server.
import { pieces, type WireAnswer } from "./model-server.js";

type Item = Readonly<Record<string, unknown>>;

const ID = "resp_loopback";

function messageItem(answer: WireAnswer): readonly Item[] {
  const calls = answer.toolCalls ?? [];
  if (answer.refusal !== undefined)
    return [
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        content: [{ type: "refusal", refusal: answer.refusal }],
      },
    ];
  if (answer.text === undefined || (answer.text === "" && calls.length > 0)) return [];
  return [
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: answer.text, annotations: [] }],
    },
  ];
}

function output(answer: WireAnswer): readonly Item[] {
  const calls = (answer.toolCalls ?? []).map((call, index) => ({
    type: "function_call",
    id: `fc_${index}`,
    call_id: call.id,
    name: call.name,
    arguments: call.arguments,
  }));
  return [{ type: "reasoning", id: "rs_1", summary: [] }, ...messageItem(answer), ...calls];
}

/** A complete answer. A `finishReason` other than "stop" is the reason of an incomplete answer. */
export function responseDocument(answer: WireAnswer): Record<string, unknown> {
  const reason = answer.finishReason;
  const isIncomplete = reason !== undefined && reason !== "stop";
  return {
    id: ID,
    object: "response",
    status: isIncomplete ? "incomplete" : "completed",
    error: null,
    incomplete_details: isIncomplete ? { reason } : null,
    model: answer.model ?? "loopback-model-2026",
    output: output(answer),
    ...(answer.usage === undefined ? {} : { usage: answer.usage }),
  };
}

function itemEvents(item: Item, output_index: number): readonly Item[] {
  const added = {
    type: "response.output_item.added",
    output_index,
    item: item["type"] === "function_call" ? { ...item, arguments: "" } : { ...item, content: [] },
  };
  const done = { type: "response.output_item.done", output_index, item };
  if (item["type"] === "function_call") {
    const deltas = pieces(String(item["arguments"])).map((delta) => ({
      type: "response.function_call_arguments.delta",
      output_index,
      delta,
    }));
    return [
      added,
      ...deltas,
      { type: "response.function_call_arguments.done", output_index, arguments: item["arguments"] },
      done,
    ];
  }
  const content = (item["content"] ?? []) as readonly {
    readonly text?: string;
    readonly refusal?: string;
  }[]; // as written above
  const deltas = content.flatMap((part) => [
    ...pieces(part.text ?? "").map((delta) => ({
      type: "response.output_text.delta",
      output_index,
      content_index: 0,
      delta,
    })),
    ...pieces(part.refusal ?? "").map((delta) => ({
      type: "response.refusal.delta",
      output_index,
      content_index: 0,
      delta,
    })),
  ]);
  return [added, ...deltas, done];
}

/** The same answer as a stream. */
export function responseEvents(answer: WireAnswer): Item[] {
  const document = responseDocument(answer);
  return [
    { type: "response.created", response: { ...document, status: "in_progress", output: [] } },
    ...output(answer).flatMap(itemEvents),
    { type: `response.${String(document["status"])}`, response: document },
  ];
}
