// A process that ends after the answer of a turn is journaled and before the turn is stored.
// Arguments: the folder, `send` or `resume`.
import { join } from "node:path";
import { Agent, Conversation, ConversationStore, tool } from "agentensemble";
import { durable } from "agentensemble/durability";
import { ScriptedModel } from "agentensemble/testing";

const [, , folder = "", how] = process.argv;
const stored = ConversationStore.file(join(folder, "threads"));
const store: ConversationStore = {
  open: (id) => stored.open(id),
  read: (id, query) => stored.read(id, query),
  list: (query) => stored.list(query),
  delete: (id) => stored.delete(id),
  append: () => {
    process.kill(process.pid, "SIGKILL");
    return new Promise(() => undefined);
  },
};
const hours = tool({ name: "hours", description: "h", execute: () => "9 to 5" });
const chat = new Conversation({
  agent: new Agent({ role: "Clerk", goal: "Answers", tools: [hours] }),
  model: new ScriptedModel(({ messages }) => {
    console.log("called");
    return messages.at(-1)?.role === "tool"
      ? "From 9 to 5."
      : { text: "I look.", toolCalls: [{ name: "hours", arguments: {} }] };
  }),
  store,
  plugins: [durable({ url: `file:${join(folder, "runs")}` })],
});
const thread = chat.thread("t", { owner: "ada" });
if (how === "send") await thread.send("When are you open?", { messageId: "m1" });
else await (await thread.resume())?.result;
console.log("alive");
