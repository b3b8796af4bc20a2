// A process that executes one task without the framework.
import type { ChatModel } from "agentensemble";

const model: ChatModel = {
  provider: "bench",
  modelId: "greeting",
  chat: async ({ messages }) => ({
    message: { role: "assistant", content: `Hello, ${messages.length} messages` },
    finishReason: "stop",
  }),
};

const { message } = await model.chat({
  messages: [
    { role: "system", content: "You are a greeter" },
    { role: "user", content: "Say hello" },
  ],
});
if (message.content !== "Hello, 2 messages") throw new Error(`Wrong answer: ${message.content}`);
