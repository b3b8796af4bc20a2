// A process that executes one task with the framework.
import type { ChatModel } from "agentensemble";
import { Ensemble, Task } from "agentensemble";

const model: ChatModel = {
  provider: "bench",
  modelId: "greeting",
  chat: async ({ messages }) => ({
    message: { role: "assistant", content: `Hello, ${messages.length} messages` },
    finishReason: "stop",
  }),
};

const { raw } = await Ensemble.run(model, Task.of("Say hello"));
if (raw !== "Hello, 2 messages") throw new Error(`Wrong answer: ${raw}`);
