import { expect } from "chai";
import type { ChatMessage } from "../../src/contracts/chat-model.js";
import { ModelCallError } from "../../src/contracts/errors.js";
import { requireTakenParts } from "../../src/contracts/part-support.js";

const IMAGE = { type: "image", data: "data:image/png;base64,iVBORw0KGgo=" } as const;
const modelOf = (user: readonly string[]) => ({
  provider: "test",
  modelId: "m",
  capabilities: { parts: { user, tool: [] } },
});

describe("the check of the parts of a request", () => {
  it("covers each message of a list that grows, for each model", () => {
    const messages: ChatMessage[] = [];
    const [blind, seeing] = [modelOf([]), modelOf(["image/*"])];
    for (let n = 0; n < 200; n++) {
      messages.push({ role: "user", content: `message ${n}` });
      requireTakenParts(messages, blind);
    }
    messages.push({ role: "user", content: [IMAGE] });
    for (let call = 0; call < 2; call++) {
      expect(() => requireTakenParts(messages, blind)).to.throw(ModelCallError, "images");
      requireTakenParts(messages, seeing);
    }
  });
});
