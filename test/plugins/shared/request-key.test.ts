import { expect } from "chai";
import type { ChatRequest } from "../../../src/contracts/chat-model.js";
import { canonicalRequest, requestKey } from "../../../src/plugins/shared/request-key.js";

const model = { provider: "p", modelId: "m" };
const conversation = (id: string): ChatRequest => ({
  messages: [
    { role: "user", content: "go" },
    { role: "assistant", content: "", toolCalls: [{ id, name: "t", arguments: "{}" }] },
    { role: "tool", toolCallId: id, toolName: "t", content: "done" },
  ],
});

describe("requestKey", () => {
  it("is the same for any ids of tool calls", () => {
    expect(requestKey(conversation("call_x8"), model)).to.equal(
      requestKey(conversation("toolu_1"), model),
    );
    expect(canonicalRequest(conversation("zz")).messages[2]).to.have.property(
      "toolCallId",
      "call-1",
    );
  });

  it("differs with the text, the options and the model", () => {
    const key = requestKey(conversation("a"), model);
    expect(key).to.match(/^[0-9a-f]{64}$/);
    expect(requestKey({ ...conversation("a"), temperature: 0 }, model)).to.not.equal(key);
    expect(requestKey(conversation("a"), { provider: "p", modelId: "n" })).to.not.equal(key);
    expect(requestKey({ messages: [{ role: "user", content: "Go" }] }, model)).to.not.equal(
      requestKey({ messages: [{ role: "user", content: "go" }] }, model),
    );
  });
});
