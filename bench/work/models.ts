import type {
  ChatChunk,
  ChatMessage,
  ChatModel,
  ChatRequest,
  ChatResponse,
  ToolCall,
} from "agentensemble";
import { setTimeout as sleep } from "node:timers/promises";
import { sumIn, written } from "./numbers.js";

/** The modulus of all sums. Results are exact integers for any number of layers. */
export const MODULUS = 1_000_003;

const USAGE = Object.freeze({ inputTokens: 10, outputTokens: 5 });

function say(content: string): ChatResponse {
  return { message: { role: "assistant", content }, finishReason: "stop", usage: USAGE };
}

function ask(toolCalls: readonly ToolCall[]): ChatResponse {
  return {
    message: { role: "assistant", content: "", toolCalls },
    finishReason: "tool_calls",
    usage: USAGE,
  };
}

function textOf(message: ChatMessage | undefined): string {
  if (typeof message?.content !== "string") throw new Error("The model was sent no text");
  return message.content;
}

function model(name: string, answer: (request: ChatRequest) => Promise<ChatResponse>): ChatModel {
  return { provider: "bench", modelId: name, chat: answer };
}

/**
 * Returns the adding model's answer to a prompt: one more than the sum of the numbers in it.
 * Without numbers, returns the number of the task.
 */
export function addedUp(prompt: string): string {
  const sum = sumIn(prompt);
  if (sum !== undefined) return written((sum + 1) % MODULUS);
  const at = prompt.indexOf("task number ");
  return written(Number.parseInt(prompt.slice(at + "task number ".length), 10));
}

export const addingModel: ChatModel = model("adding", async ({ messages }) =>
  say(addedUp(textOf(messages.at(-1)))),
);

/** Returns a model that answers as the adding model, after a pause. */
export function pausingModel(milliseconds: number): ChatModel {
  return model("pausing", async ({ messages }) => {
    await sleep(milliseconds);
    return say(addedUp(textOf(messages.at(-1))));
  });
}

function step(value: number): ToolCall {
  return { id: `call-${value}`, name: "step", arguments: `{"value":${value}}` };
}

/**
 * Returns a model that calls the tool `step` with its previous result, until the result is `limit`.
 */
export function countingModel(limit: number): ChatModel {
  return model("counting", async ({ messages }) => {
    const last = messages.at(-1);
    const value = last?.role === "tool" ? (sumIn(last.content) ?? Number.NaN) : 0;
    return value < limit ? ask([step(value)]) : say(written(value));
  });
}

/**
 * Returns a model that calls the tool `step` with `width` consecutive numbers in each of `turns`
 * turns. It then answers with the sum of all results.
 */
export function fanningModel(turns: number, width: number): ChatModel {
  return model("fanning", async ({ messages }) => {
    const last = messages.at(-1);
    const next = last?.role === "tool" ? (sumIn(last.content) ?? Number.NaN) : 0;
    if (next < turns * width) return ask(Array.from({ length: width }, (_, i) => step(next + i)));
    return say(
      written(
        messages.reduce(
          (sum, message) =>
            message.role === "tool" ? sum + (sumIn(message.content) ?? Number.NaN) : sum,
          0,
        ),
      ),
    );
  });
}

/**
 * Returns a model that streams `count` tokens as fast as they are read. `text` contains all of
 * them.
 */
export function streamingModel(count: number): {
  readonly model: ChatModel & Required<Pick<ChatModel, "stream">>;
  readonly text: string;
} {
  const tokens = Array.from({ length: count }, (_, i) => `t${i} `);
  const text = tokens.join("");
  const chunks: readonly ChatChunk[] = [
    ...tokens.map((token) => ({ type: "text" as const, text: token })),
    { type: "finish", response: say(text) },
  ];
  return {
    model: {
      ...model("streaming", async () => say(text)),
      stream: () => ({ [Symbol.asyncIterator]: () => iterate(chunks) }),
    },
    text,
  };
}

/**
 * Implemented directly, because an async generator takes several times as long as the measured
 * work.
 */
function iterate(chunks: readonly ChatChunk[]): AsyncIterator<ChatChunk, undefined> {
  let next = 0;
  return {
    async next() {
      const value = chunks[next++];
      return value === undefined ? { done: true, value } : { done: false, value };
    },
  };
}
