import { expect } from "chai";
import type { ChatRequest, ChatResponse } from "../../../../src/contracts/chat-model.js";
import {
  checkedEntry,
  withFreshIds,
  withoutUsage,
} from "../../../../src/plugins/resilience/cache/cached-response.js";

describe("a response in a cache", () => {
  const toolCalls = [{ id: "c", name: "look", arguments: "{}" }];
  const response: ChatResponse = {
    message: { role: "assistant", content: "", toolCalls },
    finishReason: "tool_calls",
    responseId: "r",
    modelId: "m",
    reasoning: "hm",
    usage: { inputTokens: 1, outputTokens: 1 },
  };

  it("contains everything except its usage", () => {
    const { usage: _, ...rest } = response;
    expect(withoutUsage(response)).to.deep.equal(rest);
    const plain = { message: { role: "assistant", content: "a" }, finishReason: "stop" } as const;
    expect(withoutUsage(plain)).to.deep.equal(plain);
  });

  it("receives ids that its conversation does not contain", () => {
    const asked = (...ids: readonly string[]): ChatRequest => ({
      messages: [
        { role: "user", content: "a" },
        { role: "assistant", content: "b" },
        {
          role: "assistant",
          content: "",
          toolCalls: ids.map((id) => ({ id, name: "look", arguments: "{}" })),
        },
      ],
    });
    expect(withFreshIds(response, asked("d"))).to.equal(response);
    const [call] = withFreshIds(response, asked("c", "c-2")).message.toolCalls ?? [];
    expect(call?.id).to.equal("c-3");
  });

  it("is refused if the cache did not write it", () => {
    const message = { role: "assistant", content: "a" };
    const whole = { response: { message, finishReason: "stop" }, storedAt: 1 };
    expect(checkedEntry(whole)).to.equal(whole);
    const wrong: readonly object[] = [
      {},
      { response: {} },
      { ...whole, storedAt: "1" },
      { ...whole, response: { message, finishReason: "length" } },
      { ...whole, response: { message: { ...message, toolCalls: 1 }, finishReason: "stop" } },
      { ...whole, response: { message: { ...message, toolCalls: [null] }, finishReason: "stop" } },
    ];
    for (const found of wrong)
      expect(() => checkedEntry(found)).to.throw(
        "The store of the cache returned an invalid entry:",
      );
  });
});
