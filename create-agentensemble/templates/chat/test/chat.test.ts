import assert from "node:assert/strict";
import { test } from "node:test";
import { ConversationStore, type Plugin } from "agentensemble";
import { replayFrom } from "agentensemble/replay";

for (const name of ["AGENTENSEMBLE_MODEL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"])
  process.env[name] = ""; // the model of the recording
const { createApp } = await import("../src/app.js");
const { createChat } = await import("../src/chat.js");

const newChat = (...plugins: readonly Plugin[]) =>
  createChat(ConversationStore.inMemory(), plugins);

/** Returns the request of `useChat` for a message of the user. */
const message = (thread: string, text: string) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({
    id: thread,
    trigger: "submit-message",
    messages: [{ id: "m-1", role: "user", parts: [{ type: "text", text }] }],
  }),
});

test("answers with the opening hours, from the recording", async () => {
  const chat = newChat(replayFrom("recordings/chat.jsonl"));
  const { text } = await chat.conversation.thread("recorded").send("When are you open?");
  assert.match(text, /17:00/);
  await chat.conversation.dispose();
});

test("streams the tool call and the answer to the page", async () => {
  const chat = newChat();
  const app = await createApp(chat);
  const response = await app.request("/api/chat", message("t-1", "When are you open?"));
  assert.equal(response.status, 200);
  const stream = await response.text();
  assert.match(stream, /tool-output-available/);
  assert.match(stream, /17:00/);
  const thread = (await (await app.request("/api/chat/t-1")).json()) as { messages: unknown[] };
  assert.equal(thread.messages.length, 2);
  await chat.conversation.dispose();
});

test("asks in the page before a table is booked", async () => {
  const chat = newChat();
  const app = await createApp(chat);
  const response = await app.request("/api/chat", message("t-2", "A table, please"));
  assert.match(await response.text(), /tool-approval-request/);
  await chat.conversation.dispose();
});

test("serves the page and its program", async () => {
  const chat = newChat();
  const app = await createApp(chat);
  assert.match(await (await app.request("/")).text(), /<div id="root">/);
  assert.ok((await (await app.request("/app.js")).text()).length > 100_000);
  await chat.conversation.dispose();
});
