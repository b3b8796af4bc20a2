import { Agent, Conversation, ConversationStore, tool, type Plugin } from "agentensemble";
import { review, reviewInbox } from "agentensemble/review";
import { z } from "zod";
import { chosenModel } from "./model.js";

const openingHours = tool({
  name: "opening_hours",
  title: "Looks up the opening hours",
  description: "Returns the opening hours of the restaurant",
  input: z.object({}),
  execute: () => "Open from 17:00 to 23:00, closed on Mondays.",
});
const bookTable = tool({
  name: "book_table",
  title: "Books a table",
  description: "Books a table for tonight",
  input: z.object({ people: z.number().int().min(1).max(12) }),
  requireApproval: true, // the page asks before the tool runs
  execute: ({ people }) => `A table for ${people} is booked for tonight.`,
});

/** A conversation, and its approvals that wait for the guest. */
export interface Chat {
  readonly conversation: Conversation;
  readonly approvals: ReturnType<typeof reviewInbox>;
}

/**
 * Creates the conversation. Its threads are stored. Tests pass a store in memory, and a plugin that
 * replays a recorded turn.
 */
export function createChat(
  store: ConversationStore = ConversationStore.file(".agentensemble/threads"),
  plugins: readonly Plugin[] = [],
): Chat {
  const approvals = reviewInbox();
  const conversation = new Conversation({
    name: "chat",
    agent: new Agent({ role: "Waiter", goal: "Helps guests of the restaurant, in one sentence" }),
    tools: [openingHours, bookTable],
    model: chosenModel(),
    store,
    plugins: [review({ store: approvals }), ...plugins],
  });
  return { conversation, approvals };
}
