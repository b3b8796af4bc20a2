import { LLMock } from "@copilotkit/aimock";
import type { Usage } from "../../../../src/contracts/chat-model.js";
import { anthropic } from "../../../../src/plugins/providers/anthropic/index.js";
import {
  chatModelContract,
  type ChatModelScenario,
  type ChatModelUnderTest,
} from "../../../../src/plugins/testing/index.js";
import { AnthropicServer } from "../../../support/anthropic-server.js";
import { messageStart, textEvents } from "../../../support/anthropic-wire.js";
import {
  loopbackReply,
  mockResponse,
  recordingFetch,
  type VendorWords,
} from "../../../support/contract-replies.js";

const MODEL = "claude-sonnet-4-5";

const WORDS: VendorWords = {
  finishReasons: {
    stop: "end_turn",
    length: "max_tokens",
    content_filter: "refusal",
    tool_calls: "tool_use",
  },
  usage: ({ inputTokens = 0, outputTokens = 0 }: Usage) => ({
    input_tokens: inputTokens,
    output_tokens: outputTokens,
  }),
  begin: (text) => [messageStart(), ...textEvents(0, [text]).slice(0, 2)],
};

async function onLoopback(scenario: ChatModelScenario): Promise<ChatModelUnderTest> {
  const server = await AnthropicServer.start(loopbackReply(scenario, WORDS));
  return {
    model: anthropic(MODEL, { apiKey: "sk-ant-test-key", baseURL: server.url }),
    lastRequest: () => server.requests.at(-1)?.body,
    close: () => server.close(),
  };
}

async function onMock(scenario: ChatModelScenario): Promise<ChatModelUnderTest> {
  const mock = new LLMock({ port: 0, host: "127.0.0.1", logLevel: "silent" });
  // aimock accepts the reason for stopping in the vendor's spelling.
  const isRefusal = scenario.kind === "answer" && scenario.finishReason === "content_filter";
  mock.on({ predicate: () => true }, () =>
    isRefusal ? { content: scenario.text, finishReason: "refusal" } : mockResponse(scenario),
  );
  await mock.start();
  const recorder = recordingFetch();
  return {
    model: anthropic(MODEL, {
      apiKey: "sk-ant-test-key",
      baseURL: mock.url,
      fetch: recorder.fetch,
    }),
    lastRequest: recorder.lastBody,
    close: () => mock.stop(),
  };
}

chatModelContract("anthropic on a loopback server", { create: onLoopback });

// aimock always reports a usage (estimated if none is given) and cannot pause within a stream.
chatModelContract("anthropic on aimock", {
  create: onMock,
  supports: { missingUsage: false, stall: false },
});
