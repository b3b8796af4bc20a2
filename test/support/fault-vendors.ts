import type { ChatModel } from "../../src/contracts/chat-model.js";
import { anthropic } from "../../src/plugins/providers/anthropic/index.js";
import { openai, type ProviderOptions } from "../../src/plugins/providers/openai/index.js";
import { AnthropicServer } from "./anthropic-server.js";
import { ANTHROPIC_WIRE, messageEnd, messageStart, textEvents } from "./anthropic-wire.js";
import type { ModelServer, Wire } from "./model-server.js";
import { CHAT_WIRE, OpenAIServer } from "./openai-server.js";
import { streamEvent } from "./openai-wire.js";

/** The properties of a vendor that the faults use. */
export interface FaultVendor {
  readonly name: string;
  readonly wire: Wire;
  start(): Promise<ModelServer>;
  model(options: ProviderOptions): ChatModel;
  /** A stream that sends `text` and no more. */
  begin(text: string): readonly object[];
  /** The end of such a stream, without its end mark. */
  readonly end: readonly object[];
  /** A success document without its answer. */
  readonly empty: object;
  /** A success document that contains this. */
  wrap(value: string): string;
  error(message: string, type: string): object;
  /** A refusal because the account is empty. */
  readonly quota: { readonly status: number; readonly body: object };
  readonly usage: (input: unknown, output: unknown) => Readonly<Record<string, unknown>>;
}

const KEY = "sk-fault-table-0123456789";

const OPENAI: FaultVendor = {
  name: "openai",
  wire: CHAT_WIRE,
  start: () => OpenAIServer.start(),
  model: (options) => openai("gpt-4o-mini", { apiKey: KEY, ...options }),
  begin: (text) => [
    streamEvent({ role: "assistant", content: "" }),
    streamEvent({ content: text }),
  ],
  end: [streamEvent({}, "stop")],
  empty: { id: "x", choices: [] },
  wrap: (value) =>
    `{"choices":[{"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],"extra":${value}}`,
  error: (message, type) => ({ error: { message, type, code: null } }),
  quota: {
    status: 429,
    body: { error: { message: "You exceeded your current quota", code: "insufficient_quota" } },
  },
  usage: (input, output) => ({ prompt_tokens: input, completion_tokens: output }),
};

const ANTHROPIC: FaultVendor = {
  name: "anthropic",
  wire: ANTHROPIC_WIRE,
  start: () => AnthropicServer.start(),
  model: (options) => anthropic("claude-sonnet-4-5", { apiKey: KEY, ...options }),
  begin: (text) => [messageStart(), ...textEvents(0, [text])],
  end: messageEnd("end_turn"),
  empty: { id: "x", type: "message" },
  wrap: (value) =>
    `{"content":[{"type":"text","text":"x"}],"stop_reason":"end_turn","extra":${value}}`,
  error: (message, type) => ({ type: "error", error: { type, message } }),
  quota: {
    status: 400,
    body: {
      type: "error",
      error: {
        type: "invalid_request_error",
        message: "Your credit balance is too low to access the API",
      },
    },
  },
  usage: (input, output) => ({ input_tokens: input, output_tokens: output }),
};

/** The vendors whose providers must handle all faults. */
export const FAULT_VENDORS: readonly FaultVendor[] = [OPENAI, ANTHROPIC];
