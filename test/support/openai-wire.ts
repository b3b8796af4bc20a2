// The documents of Chat Completions, for the loopback server.

import { pieces, type WireAnswer } from "./model-server.js";

const ID = "chatcmpl-loopback";
const MODEL = "loopback-model-2026";

function finishReason(answer: WireAnswer): string {
  return answer.finishReason ?? ((answer.toolCalls ?? []).length > 0 ? "tool_calls" : "stop");
}

/** A complete answer. */
export function answerDocument(answer: WireAnswer): Record<string, unknown> {
  const calls = answer.toolCalls ?? [];
  return {
    id: ID,
    object: "chat.completion",
    created: 1_770_000_000,
    model: answer.model ?? MODEL,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: answer.text ?? null,
          refusal: answer.refusal ?? null,
          ...(calls.length === 0
            ? {}
            : {
                tool_calls: calls.map((call) => ({
                  id: call.id,
                  type: "function",
                  function: { name: call.name, arguments: call.arguments },
                })),
              }),
        },
        finish_reason: finishReason(answer),
      },
    ],
    ...(answer.usage === undefined ? {} : { usage: answer.usage }),
  };
}

/** One event of a stream. */
export function streamEvent(
  delta: Readonly<Record<string, unknown>>,
  finish: string | null = null,
): Record<string, unknown> {
  return {
    id: ID,
    object: "chat.completion.chunk",
    created: 1_770_000_000,
    model: MODEL,
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
}

/** The same answer as a stream, without the closing `[DONE]`. */
export function answerEvents(
  answer: WireAnswer,
  o: { readonly includeUsage: boolean },
): Record<string, unknown>[] {
  const calls = (answer.toolCalls ?? []).flatMap((call, index) => [
    streamEvent({
      tool_calls: [
        { index, id: call.id, type: "function", function: { name: call.name, arguments: "" } },
      ],
    }),
    ...pieces(call.arguments).map((piece) =>
      streamEvent({ tool_calls: [{ index, function: { arguments: piece } }] }),
    ),
  ]);
  const usage =
    o.includeUsage && answer.usage !== undefined
      ? [
          {
            id: ID,
            object: "chat.completion.chunk",
            created: 1_770_000_000,
            model: MODEL,
            choices: [],
            usage: answer.usage,
          },
        ]
      : [];
  return [
    streamEvent({ role: "assistant", content: "" }),
    ...pieces(answer.text ?? "").map((content) => streamEvent({ content })),
    ...pieces(answer.refusal ?? "").map((refusal) => streamEvent({ refusal })),
    ...calls,
    streamEvent({}, finishReason(answer)),
    ...usage,
  ];
}
