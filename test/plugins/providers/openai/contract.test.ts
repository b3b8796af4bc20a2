import { LLMock } from "@copilotkit/aimock";
import type { Usage } from "../../../../src/contracts/chat-model.js";
import { openai, type OpenAIOptions } from "../../../../src/plugins/providers/openai/index.js";
import {
  chatModelContract,
  type ChatModelScenario,
  type ChatModelUnderTest,
} from "../../../../src/plugins/testing/index.js";
import {
  loopbackReply,
  mockResponse,
  recordingFetch,
  type VendorWords,
} from "../../../support/contract-replies.js";
import { OpenAIServer } from "../../../support/openai-server.js";
import { streamEvent } from "../../../support/openai-wire.js";

const CHAT: VendorWords = {
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

const RESPONSES: VendorWords = {
  finishReasons: { stop: "stop", length: "max_output_tokens", content_filter: "content_filter" },
  usage: ({ inputTokens = 0, outputTokens = 0 }: Usage) => ({
    input_tokens: inputTokens,
    output_tokens: outputTokens,
  }),
  begin: (text) => [
    { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: text },
  ],
};

function under(server: OpenAIServer, options: OpenAIOptions): ChatModelUnderTest {
  return {
    model: openai("gpt-4o-mini", { apiKey: "sk-test-key", baseURL: server.url, ...options }),
    lastRequest: () => server.requests.at(-1)?.body,
    close: () => server.close(),
  };
}

async function onMock(
  scenario: ChatModelScenario,
  options: OpenAIOptions,
): Promise<ChatModelUnderTest> {
  const mock = new LLMock({ port: 0, host: "127.0.0.1", logLevel: "silent" });
  mock.on({ predicate: () => true }, () => mockResponse(scenario));
  await mock.start();
  const recorder = recordingFetch();
  return {
    model: openai("gpt-4o-mini", {
      apiKey: "sk-test-key",
      baseURL: `${mock.url}/v1`,
      fetch: recorder.fetch,
      ...options,
    }),
    lastRequest: recorder.lastBody,
    close: () => mock.stop(),
  };
}

chatModelContract("openai on a loopback server", {
  create: async (scenario) => under(await OpenAIServer.start(loopbackReply(scenario, CHAT)), {}),
});

const responsesOnLoopback = async (scenario: ChatModelScenario): Promise<ChatModelUnderTest> =>
  under(await OpenAIServer.startResponses(loopbackReply(scenario, RESPONSES)), {
    api: "responses",
  });

chatModelContract("openai's Responses on a loopback server", { create: responsesOnLoopback });

// aimock always reports a usage (estimated if none is given) and cannot pause within a stream.
const supports = { missingUsage: false, stall: false };
chatModelContract("openai on aimock", { create: (scenario) => onMock(scenario, {}), supports });
chatModelContract("openai's Responses on aimock", {
  // aimock returns a failed answer in place of a filtered one, unlike the vendor.
  create: (scenario) =>
    scenario.kind === "answer" && scenario.finishReason === "content_filter"
      ? responsesOnLoopback(scenario)
      : onMock(scenario, { api: "responses" }),
  supports,
});
