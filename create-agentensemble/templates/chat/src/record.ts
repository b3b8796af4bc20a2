// Records the turns that the tests replay. Run it again after a prompt or a tool has changed: npm
// run record
import { rm } from "node:fs/promises";
import { ConversationStore } from "agentensemble";
import { recordTo } from "agentensemble/replay";
import { createChat } from "./chat.js";

const file = "recordings/chat.jsonl";
await rm(file, { force: true });
const { conversation } = createChat(ConversationStore.inMemory(), [recordTo(file)]);
const { text } = await conversation.thread("recorded").send("When are you open?");
await conversation.dispose();
console.log(text);
