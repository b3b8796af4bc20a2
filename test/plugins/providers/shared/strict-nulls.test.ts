import type { ChatResponse, JsonSchema } from "agentensemble";
import { expect } from "chai";
import { NullRemover } from "../../../../src/plugins/providers/shared/strict-nulls.js";

const SCHEMA: JsonSchema = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a"],
};

describe("NullRemover", () => {
  it("removes nulls from the text and the calls of a response, and keeps its reasoning", () => {
    const reasoning = [
      { type: "reasoning", text: "Hm", provider: "p", modelId: "m", index: 0, data: { id: "r1" } },
    ] as const;
    const response: ChatResponse = {
      message: {
        role: "assistant",
        content: '{"a":1,"b":null}',
        toolCalls: [{ id: "c1", name: "add", arguments: '{"a":2,"b":null}' }],
        reasoning,
      },
      finishReason: "tool_calls",
      reasoning: "Hm",
    };
    const remover = new NullRemover({ text: SCHEMA, tools: new Map([["add", SCHEMA]]) });
    expect(remover.response(response)).to.deep.equal({
      ...response,
      message: {
        role: "assistant",
        content: '{"a":1}',
        toolCalls: [{ id: "c1", name: "add", arguments: '{"a":2}' }],
        reasoning,
      },
    });
  });
});
