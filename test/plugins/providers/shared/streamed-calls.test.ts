import { expect } from "chai";
import { StreamedMessage } from "../../../../src/plugins/providers/anthropic/streamed-message.js";
import { StreamedCompletion } from "../../../../src/plugins/providers/openai/chat/streamed-completion.js";
import { StreamedResponse } from "../../../../src/plugins/providers/openai/responses/streamed-response.js";
import type { StreamedAnswer } from "../../../../src/plugins/providers/shared/chat-protocol.js";
import type { Fields } from "../../../../src/util/objects.js";

/** With quadratic time, this number exceeds the time limit of any test. */
const COUNT = 100_000;

interface Vendor {
  readonly answer: StreamedAnswer;
  begin(index: number): Fields;
  extend(index: number): Fields;
  readonly end: readonly Fields[];
}

const vendors: Readonly<Record<string, () => Vendor>> = {
  "Chat Completions": () => {
    const event = (call: object, finish_reason?: string): Fields => ({
      choices: [{ delta: { tool_calls: [call] }, finish_reason }],
    });
    return {
      answer: new StreamedCompletion(),
      begin: (index) => event({ index, id: `c${index}`, function: { name: "add" } }),
      extend: (index) => event({ index, function: { arguments: "{}" } }),
      end: [{ choices: [{ delta: {}, finish_reason: "tool_calls" }] }],
    };
  },
  Responses: () => ({
    answer: new StreamedResponse(),
    begin: (output_index) => ({
      type: "response.output_item.added",
      output_index,
      item: { type: "function_call", call_id: `c${output_index}`, name: "add" },
    }),
    extend: (output_index) => ({
      type: "response.function_call_arguments.delta",
      output_index,
      delta: "{}",
    }),
    end: [{ type: "response.completed", response: { status: "completed" } }],
  }),
  Messages: () => ({
    answer: new StreamedMessage(),
    begin: (index) => ({
      type: "content_block_start",
      index,
      content_block: { type: "tool_use", id: `c${index}`, name: "add", input: {} },
    }),
    extend: (index) => ({
      type: "content_block_delta",
      index,
      delta: { type: "input_json_delta", partial_json: "{}" },
    }),
    end: [{ type: "message_delta", delta: { stop_reason: "tool_use" } }],
  }),
};

describe("a stream of very many tool calls", () => {
  for (const [name, start] of Object.entries(vendors))
    it(`is read in linear time (${name})`, () => {
      const { answer, begin, extend, end } = start();
      for (let index = 0; index < COUNT; index++) answer.add(begin(index));
      for (let index = COUNT - 1; index >= 0; index--) answer.add(extend(index));
      for (const event of end) answer.add(event);
      const { toolCalls = [] } = answer.finish().message;
      expect(toolCalls.length).to.equal(COUNT);
      expect(toolCalls.at(-1)).to.deep.equal({
        id: `c${COUNT - 1}`,
        name: "add",
        arguments: "{}",
      });
    });
});
