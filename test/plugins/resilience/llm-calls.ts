import type { ChatModel } from "../../../src/contracts/chat-model.js";
import type { LlmCall } from "../../../src/contracts/hooks.js";
import type { ModelErrorCode } from "../../../src/contracts/model-error-code.js";
import { ModelCallError } from "../../../src/contracts/errors.js";
import { ScriptedModel } from "../../../src/plugins/testing/index.js";
import { fakeRun } from "../../support/fake-scope.js";

/** A model call in the form for hooks and policies. */
export function llmCall(o: Partial<LlmCall> = {}): LlmCall {
  return {
    run: fakeRun,
    taskId: "task-1",
    agentRole: "Tester",
    purpose: "task",
    taskAttempt: 1,
    iteration: 0,
    attempt: 1,
    request: { messages: [{ role: "user", content: "Hello" }] },
    model: new ScriptedModel([]),
    rateLimits: [],
    signal: new AbortController().signal,
    ...o,
  };
}

/** A failure of a model call; `retryable` by default. */
export function failed(
  code: ModelErrorCode,
  o: {
    readonly status?: number;
    readonly retryable?: boolean;
    readonly retryAfterMs?: number;
  } = {},
): ModelCallError {
  return new ModelCallError(`the call failed with ${code}`, {
    provider: "test",
    modelId: "test",
    code,
    retryable: true,
    ...o,
  });
}

/** A model that declares its number of attempts. */
export function withAttempts(model: ChatModel, maxAttempts: number): ChatModel {
  return {
    provider: model.provider,
    modelId: model.modelId,
    capabilities: { retry: { maxAttempts } },
    chat: (request, options) => model.chat(request, options),
  };
}
