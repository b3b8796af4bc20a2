// A run as the stream that `useChat` of the AI SDK reads. A server on this machine answers the
// request of a page. The transport and the reader of `useChat` simulate the page. The output shows
// a tool call and the answer, and no data of the agent that worked before.
// Run it: npm run example -- 50
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Agent, Ensemble, Task, tool } from "agentensemble";
import { toUIMessageStreamResponse } from "agentensemble/ui";
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import { z } from "zod";
import { realOrScripted } from "./support/scripted.js";

const tide = tool({
  name: "tide",
  title: "Tide table",
  description: "The next high water of a harbour",
  input: z.object({ harbour: z.string() }),
  execute: ({ harbour }) => ({ harbour, at: "14:40" }),
});
const { model, name } = realOrScripted((_request, index) => {
  if (index === 0) return "Notes of the researcher, for the clerk alone.";
  if (index === 1) return { toolCalls: [{ name: "tide", arguments: { harbour: "Husum" } }] };
  return { chunks: ["High water ", "at Husum ", "is at 14:40."] };
});
console.log(`Model: ${name}\n`);
const researcher = new Agent({ role: "Researcher", goal: "Knows the harbours of the coast" });
const clerk = new Agent({ role: "Clerk", goal: "Answers in one sentence", tools: [tide] });

await using team = new Ensemble({
  model,
  tasks: [
    new Task({ name: "notes", description: "Collect notes on {question}", agent: researcher }),
    new Task({ name: "answer", description: "Answer: {question}", agent: clerk }),
  ],
});

const server = createServer((_request, outgoing) => {
  const run = team.stream({ question: "When is high water at Husum?" });
  const response = toUIMessageStreamResponse(run);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  // If the page disconnects, the pipeline ends. This cancels the stream and the run.
  if (response.body !== null)
    pipeline(Readable.fromWeb(response.body), outgoing).catch(() => undefined);
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = server.address();
const port = typeof address === "object" && address !== null ? address.port : 0;

const transport = new DefaultChatTransport<UIMessage>({ api: `http://127.0.0.1:${port}/` });
const stream = await transport.sendMessages({
  chatId: "chat-1",
  messageId: undefined,
  trigger: "submit-message",
  messages: [{ id: "m1", role: "user", parts: [{ type: "text", text: "High water?" }] }],
  abortSignal: undefined,
});
let message: UIMessage | undefined;
for await (const next of readUIMessageStream({ stream })) message = next;
for (const part of message?.parts ?? []) {
  if (part.type === "text") console.log("text:", part.text);
  if (part.type === "dynamic-tool")
    console.log(`tool: ${part.title ?? part.toolName}`, part.state, part.input, part.output);
  if (part.type === "data-task") console.log("task:", part.data);
}
server.close();
