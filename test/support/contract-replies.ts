import type { FixtureResponse } from "@copilotkit/aimock";
import type { FinishReason, Usage } from "../../src/contracts/chat-model.js";
import type { ChatModelScenario } from "../../src/plugins/testing/index.js";
import type { Reply } from "./model-server.js";

/** A vendor's terms for the scenarios of `chatModelContract`. */
export interface VendorWords {
  readonly finishReasons: Partial<Readonly<Record<FinishReason, string>>>;
  usage(usage: Usage): Readonly<Record<string, unknown>>;
  /** The events with which a stream of this text begins. */
  begin(text: string): readonly unknown[];
}

/** The behaviour of a loopback server for a scenario. */
export function loopbackReply(scenario: ChatModelScenario, words: VendorWords): Reply {
  switch (scenario.kind) {
    case "answer": {
      const { text, toolCalls, finishReason, usage } = scenario;
      const reason = finishReason === undefined ? undefined : words.finishReasons[finishReason];
      return {
        kind: "answer",
        text,
        ...(toolCalls === undefined ? {} : { toolCalls }),
        ...(reason === undefined ? {} : { finishReason: reason }),
        ...(usage === undefined ? {} : { usage: words.usage(usage) }),
      };
    }
    case "error":
      return {
        kind: "status",
        status: scenario.status,
        body: { error: { message: scenario.message } },
      };
    case "hang":
      return { kind: "hang" };
    case "stall":
      return { kind: "events", events: words.begin(scenario.text), end: "stall" };
  }
}

/** The behaviour of aimock for a scenario, in the terms of Chat Completions for any vendor. */
export function mockResponse(
  scenario: ChatModelScenario,
): FixtureResponse | Promise<FixtureResponse> {
  if (scenario.kind === "hang" || scenario.kind === "stall")
    return new Promise<FixtureResponse>(() => undefined);
  if (scenario.kind === "error")
    return { error: { message: scenario.message }, status: scenario.status };
  const { usage, finishReason } = scenario;
  const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
  const overrides = {
    ...(usage === undefined
      ? {}
      : {
          usage: {
            prompt_tokens: inputTokens,
            completion_tokens: outputTokens,
            total_tokens: inputTokens + outputTokens,
          },
        }),
    ...(finishReason === undefined ? {} : { finishReason }),
  };
  if (scenario.toolCalls === undefined) return { content: scenario.text, ...overrides };
  return { toolCalls: scenario.toolCalls.map((call) => ({ ...call })), ...overrides };
}

/**
 * The platform's fetch, and its last body: aimock translates requests and keeps only the known
 * fields.
 */
export function recordingFetch(): { readonly fetch: typeof fetch; lastBody(): unknown } {
  let body: unknown;
  return {
    fetch: (input, init) => {
      body = typeof init?.body === "string" ? JSON.parse(init.body) : undefined;
      return fetch(input, init);
    },
    lastBody: () => body,
  };
}
