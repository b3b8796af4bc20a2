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

/** Results stay exact integers, however many layers are added up. */
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

/** The adding model's answer to a prompt: one more than the sum of the numbers in it, or the number of the task where it holds none. */
export function addedUp(prompt: string): string {
  const sum = sumIn(prompt);
  if (sum !== undefined) return written((sum + 1) % MODULUS);
  const at = prompt.indexOf("task number ");
  return written(Number.parseInt(prompt.slice(at + "task number ".length), 10));
}

export const addingModel: ChatModel = model("adding", async ({ messages }) =>
  say(addedUp(textOf(messages.at(-1)))),
);

/** As the adding model, after a pause. */
export function pausingModel(milliseconds: number): ChatModel {
  return model("pausing", async ({ messages }) => {
    await sleep(milliseconds);
    return say(addedUp(textOf(messages.at(-1))));
  });
}

function step(value: number): ToolCall {
  return { id: `call-${value}`, name: "step", arguments: `{"value":${value}}` };
}

/** Calls the tool `step` with what it gave before, until that is `limit`. */
export function countingModel(limit: number): ChatModel {
  return model("counting", async ({ messages }) => {
    const last = messages.at(-1);
    const value = last?.role === "tool" ? (sumIn(last.content) ?? Number.NaN) : 0;
    return value < limit ? ask([step(value)]) : say(written(value));
  });
}

/** Calls the tool `step` with `width` consecutive numbers in each of `turns` turns, then answers with the sum of all results. */
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

/** Streams `count` tokens as fast as they are taken. `text` is all of them. */
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

/** By hand, because an async generator takes several times as long as everything that is measured. */
function iterate(chunks: readonly ChatChunk[]): AsyncIterator<ChatChunk, undefined> {
  let next = 0;
  return {
    async next() {
      const value = chunks[next++];
      return value === undefined ? { done: true, value } : { done: false, value };
    },
  };
}
