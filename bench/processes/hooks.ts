// A process that loads the unbundled container and hooks, and executes one task with them.
import "reflect-metadata";
import type { ChatModel } from "agentensemble";
import { AsyncLocalStorage } from "node:async_hooks";
import { Container } from "inversify";
import { AsyncSeriesBailHook } from "tapable";

const token = Symbol("model");
const container = new Container();
container.bind<ChatModel>(token).toConstantValue({
  provider: "bench",
  modelId: "greeting",
  chat: async ({ messages }) => ({
    message: { role: "assistant", content: `Hello, ${messages.length} messages` },
    finishReason: "stop",
  }),
});
const before = new AsyncSeriesBailHook<[string], true | undefined>(["name"]);
before.tapPromise("nothing", async () => undefined);

const content = await new AsyncLocalStorage<string>().run("task", async () => {
  await before.promise("task");
  const model = container.get<ChatModel>(token);
  const { message } = await model.chat({
    messages: [
      { role: "system", content: "You are a greeter" },
      { role: "user", content: "Say hello" },
    ],
  });
  return message.content;
});
if (content !== "Hello, 2 messages") throw new Error(`Wrong answer: ${content}`);
