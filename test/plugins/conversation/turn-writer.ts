import { writeSync } from "node:fs";
import { ConversationConflictError, ConversationStore } from "../../../src/index.js";
import { storedTurn } from "../../../src/plugins/testing/conversation-store-turns.js";

// A process that adds turns to a thread of a store, concurrently with others. Or it holds the lock
// of the thread until it is killed.

const [mode = "", place = "", schema = "", name = "", count = "0"] = process.argv.slice(2);
const store = place.includes("://")
  ? ConversationStore.sql({ url: place, schema })
  : ConversationStore.file(place);
const say = (line: string): number => writeSync(1, `${line}\n`);
const signal = new AbortController().signal;
const lock = async (): Promise<{ release(): Promise<void> } | undefined> =>
  store.lock?.("t", { timeoutMs: 60_000, signal });

/** The lock makes conflicts impossible. */
async function addTurns(): Promise<void> {
  let conflicts = 0;
  for (let i = 0; i < Number(count); i++) {
    const held = await lock();
    const head = await store.open("t");
    const turns = [storedTurn(head?.turns ?? 0, `${name}-${i}`)];
    try {
      await store.append("t", { expectedVersion: head?.version ?? 0, turns });
    } catch (error) {
      if (!ConversationConflictError.isInstance(error)) throw error;
      conflicts++;
    }
    await held?.release();
  }
  say(`conflicts: ${conflicts}`);
}

if (mode === "add") {
  await addTurns();
  await store.close?.();
} else {
  await lock();
  say("held");
  setInterval(() => undefined, 1_000);
}
