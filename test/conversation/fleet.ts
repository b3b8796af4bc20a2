import type { Thread } from "agentensemble";
import { Agent, Conversation, tool } from "agentensemble";
import { sharedLimits } from "agentensemble/network";
import { postgres } from "agentensemble/network/postgres";
import { bullmq } from "agentensemble/network/redis";
import { ScriptedModel } from "agentensemble/testing";

/** The backend in which the processes of a fleet count together. */
export interface FleetPlace {
  readonly store: "redis" | "postgres";
  readonly url: string;
  /** The name of the conversation, and of the keys or the schema. */
  readonly name: string;
}

/** The quota of the owner in all processes. */
export const FLEET_QUOTA = { windowMs: 30 * 86_400_000, maxRequests: 2, maxTokens: 1_000 };

/** One process of a fleet: each turn has two calls of 100 tokens, and `look` between them. */
export function fleetDesk(
  { store, url, name }: FleetPlace,
  look: () => unknown = () => undefined,
): { readonly thread: Thread; end(): Promise<void> } {
  const backend =
    store === "redis" ? bullmq({ url, prefix: name }) : postgres({ url, schema: name });
  const usage = { inputTokens: 60, outputTokens: 40 };
  const chat = new Conversation({
    name,
    agent: new Agent({ role: "Clerk", goal: "Answers" }),
    model: new ScriptedModel(({ messages }) =>
      messages.at(-1)?.role === "tool"
        ? { text: "Yes.", usage }
        : { toolCalls: [{ name: "look", arguments: {} }], usage },
    ),
    tools: [
      tool({
        name: "look",
        description: "l",
        execute: async () => {
          await look();
          return "found";
        },
      }),
    ],
    quota: FLEET_QUOTA,
    plugins: [sharedLimits(backend)],
  });
  return {
    thread: chat.thread(`t-${process.pid}`, { owner: "ada" }),
    end: async () => {
      await chat.dispose();
      await backend.close();
    },
  };
}
