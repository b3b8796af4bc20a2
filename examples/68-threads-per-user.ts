// Threads of several users in a folder. Each user has access only to their own threads. One message
// is edited, and old turns are summarized. The store is opened a second time, as after a restart.
// Run it: npm run example -- 68
// It works without a key. With OPENAI_API_KEY, it calls OpenAI.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AccessDeniedError,
  Agent,
  Conversation,
  ConversationStore,
  WindowPolicy,
} from "agentensemble";
import { realOrScripted } from "./support/scripted.js";

const { model, name } = realOrScripted(({ messages }) => {
  const text = JSON.stringify(messages);
  if (messages[0]?.role === "user") return "They talked about ferries to Amrum.";
  return text.includes("<summary>") ? "The ferries to Amrum again: 9:30." : "Noted.";
});
console.log(`Model: ${name}\n`);
const folder = await mkdtemp(join(tmpdir(), "threads-"));

function open(): Conversation {
  return new Conversation({
    agent: new Agent({ role: "Travel clerk", goal: "Answers in one sentence" }),
    model,
    store: ConversationStore.file(folder),
    window: WindowPolicy.summary({ turns: 2, keepTurns: 1 }),
  });
}

const first = open();
const trip = first.thread("trip", { owner: "ada" });
for (const message of ["Where is Amrum?", "Is there a ferry?", "I travel on Monday."])
  await trip.send(message);
const { messages } = await trip.send("Which one is first?");
await first.thread("taxes", { owner: "ben" }).send("When are they due?");
await first.dispose();

// After a restart.
await using chat = open();
for (const owner of ["ada", "ben"]) {
  const { threads } = await chat.threads({ owner });
  console.log(`${owner}: ${threads.map(({ id, turns }) => `${id} (turns: ${turns})`).join(", ")}`);
}
try {
  await chat.thread("trip", { owner: "ben" }).messages();
} catch (error) {
  if (!AccessDeniedError.isInstance(error)) throw error;
  console.log(`ben opens trip: ${error.code}`);
}

const thread = chat.thread("trip", { owner: "ada" });
const edited = thread.edit(messages[0]?.id ?? "", "Which one is last?");
console.log(`edited: ${(await edited.result).text}`);
const head = await thread.head();
console.log(
  `${head?.turns} turns, summary up to turn ${head?.summary?.upTo}: ${head?.summary?.text}`,
);
const fork = await thread.fork(undefined, { id: "trip-with-ben" });
console.log(`${fork.id}: ${(await fork.messages()).length} messages`);
await rm(folder, { recursive: true });
