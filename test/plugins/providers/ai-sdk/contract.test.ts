import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { Usage } from "../../../../src/contracts/chat-model.js";
import { aiSdk } from "../../../../src/plugins/providers/ai-sdk/index.js";
import { chatModelContract } from "../../../../src/plugins/testing/index.js";
import { loopbackReply, type VendorWords } from "../../../support/contract-replies.js";
import { OpenAIServer } from "../../../support/openai-server.js";
import { streamEvent } from "../../../support/openai-wire.js";

const WORDS: VendorWords = {
  finishReasons: {
    stop: "stop",
    length: "length",
    content_filter: "content_filter",
    tool_calls: "tool_calls",
  },
  usage: ({ inputTokens = 0, outputTokens = 0 }: Usage) => ({
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
  }),
  begin: (text) => [streamEvent({ role: "assistant", content: text })],
};

chatModelContract("a model of the AI SDK on a loopback server", {
  create: async (scenario) => {
    const server = await OpenAIServer.start(loopbackReply(scenario, WORDS));
    const provider = createOpenAICompatible({
      name: "loopback",
      baseURL: server.url,
      includeUsage: true,
      supportsStructuredOutputs: true,
    });
    return {
      model: aiSdk(provider("gpt-4o-mini")),
      lastRequest: () => server.requests.at(-1)?.body,
      close: () => server.close(),
    };
  },
});
