// A server that simulates OpenAI's Chat Completions. It runs in a separate process: its CPU time is
// not measured. Sends its port to its parent and ends with the parent.
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

/** Number of pieces of a streamed answer. */
const PIECES = 200;

interface Sent {
  readonly stream?: boolean;
  readonly tools?: readonly unknown[];
  readonly messages: readonly { readonly role: string }[];
}

const USAGE = { prompt_tokens: 40, completion_tokens: 10, total_tokens: 50 };
const HEAD = { id: "chatcmpl-1", created: 1_770_000_000, model: "gpt-4o-mini" };

function whole(message: object, finishReason: string): string {
  const choice = {
    index: 0,
    message: { role: "assistant", content: null, refusal: null, ...message },
    finish_reason: finishReason,
  };
  return JSON.stringify({ ...HEAD, object: "chat.completion", choices: [choice], usage: USAGE });
}

function event(delta: object, finishReason: string | null = null): string {
  return `data: ${JSON.stringify({ ...HEAD, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finishReason }] })}\n\n`;
}

const ANSWER = whole({ content: "Stockholm has fourteen islands." }, "stop");
const CALL = {
  id: "call-1",
  type: "function",
  function: { name: "count", arguments: '{"city":"Stockholm"}' },
};
const ASK = whole({ tool_calls: [CALL] }, "tool_calls");
const EVENTS = [
  ...Array.from({ length: PIECES }, (_, i) => event({ content: `t${i} ` })),
  event({}, "stop"),
  `data: ${JSON.stringify({ ...HEAD, object: "chat.completion.chunk", choices: [], usage: USAGE })}\n\n`,
  "data: [DONE]\n\n",
];

const server = createServer((request, response) => {
  void text(request).then((body) => {
    const { stream, tools, messages } = JSON.parse(body) as Sent; // clients send nothing else
    response.writeHead(200, {
      "content-type": stream === true ? "text/event-stream" : "application/json",
    });
    if (stream === true) {
      for (const piece of EVENTS) response.write(piece);
      response.end();
    } else response.end(tools !== undefined && messages.at(-1)?.role !== "tool" ? ASK : ANSWER);
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.(typeof address === "object" ? address?.port : undefined);
});
process.once("disconnect", () => process.exit());
