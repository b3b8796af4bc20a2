import { LLMock, type FixtureResponse } from "@copilotkit/aimock";
import { openai } from "../../../../src/plugins/providers/openai/index.js";
import { chatModelContract, type ChatModelScenario, type ChatModelUnderTest } from "../../../../src/plugins/testing/index.js";
import { OpenAIServer, type Reply } from "../../../support/openai-server.js";
import { streamEvent } from "../../../support/openai-wire.js";

type Answer = Extract<ChatModelScenario, { readonly kind: "answer" }>;

function wireUsage(usage: Answer["usage"]): { prompt_tokens: number; completion_tokens: number; total_tokens: number } | undefined {
  if (usage === undefined) return undefined;
  const { inputTokens = 0, outputTokens = 0 } = usage;
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
}

function loopbackReply(scenario: ChatModelScenario): Reply {
  switch (scenario.kind) {
    case "answer": {
      const usage = wireUsage(scenario.usage);
      return {
        kind: "answer",
        text: scenario.text,
        ...(scenario.toolCalls === undefined ? {} : { toolCalls: scenario.toolCalls }),
        ...(scenario.finishReason === undefined ? {} : { finishReason: scenario.finishReason }),
        ...(usage === undefined ? {} : { usage }),
      };
    }
    case "error":
      return { kind: "status", status: scenario.status, body: { error: { message: scenario.message } } };
    case "hang":
      return { kind: "hang" };
    case "stall":
      return { kind: "events", events: [streamEvent({ role: "assistant", content: scenario.text })], end: "stall" };
  }
}

async function onLoopback(scenario: ChatModelScenario): Promise<ChatModelUnderTest> {
  const server = await OpenAIServer.start(loopbackReply(scenario));
  return {
    model: openai("gpt-4o-mini", { apiKey: "sk-test-key", baseURL: server.url }),
    lastRequest: () => server.requests.at(-1)?.body,
    close: () => server.close(),
  };
}

function mockResponse(scenario: ChatModelScenario): FixtureResponse | Promise<FixtureResponse> {
  if (scenario.kind === "hang" || scenario.kind === "stall") return new Promise<FixtureResponse>(() => undefined);
  if (scenario.kind === "error") return { error: { message: scenario.message }, status: scenario.status };
  const usage = wireUsage(scenario.usage);
  const overrides = { ...(usage === undefined ? {} : { usage }), ...(scenario.finishReason === undefined ? {} : { finishReason: scenario.finishReason }) };
  if (scenario.toolCalls === undefined) return { content: scenario.text, ...overrides };
  return { toolCalls: scenario.toolCalls.map((call) => ({ ...call })), ...overrides };
}

async function onMock(scenario: ChatModelScenario): Promise<ChatModelUnderTest> {
  const mock = new LLMock({ port: 0, host: "127.0.0.1", logLevel: "silent" });
  mock.on({ predicate: () => true }, () => mockResponse(scenario));
  await mock.start();
  return {
    model: openai("gpt-4o-mini", { apiKey: "sk-test-key", baseURL: `${mock.url}/v1` }),
    lastRequest: () => mock.getLastRequest()?.body,
    close: () => mock.stop(),
  };
}

chatModelContract("openai on a loopback server", { create: onLoopback });

// aimock always reports a usage (estimated where none is given) and cannot fall silent in the middle of a stream.
chatModelContract("openai on aimock", { create: onMock, supports: { missingUsage: false, stall: false } });
