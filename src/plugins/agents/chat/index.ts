import { AgentEnsembleError } from "../../../contracts/errors.js";
import { replace } from "../../../contracts/hooks.js";
import { MEMORY_METADATA, type MemoryEntry } from "../../../contracts/memory.js";
import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { ChatExecutor } from "./chat-executor.js";
import { ChatTurns, ChatTurnsToken } from "./chat-turn.js";

export type { AgentPart } from "../shared/exchange.js";
export { ChatTurnsToken } from "./chat-turn.js";
export type {
  ChatProgress,
  ChatTurn,
  ChatTurns,
  ThreadWindow,
  TurnAttempt,
  TurnEnd,
  WindowReader,
} from "./chat-turn.js";

/** Executes the turns of conversations and stores them at the end of their runs. */
export function agentsChat(): Plugin {
  const turns = new ChatTurns();
  return definePlugin({
    name: "agents-chat",
    bind(bind) {
      bind.single(ChatTurnsToken).toConstantValue(turns);
      bind.many(Tokens.TaskExecutor).toConstantValue(new ChatExecutor(turns));
    },
    apply({ hooks }) {
      hooks.afterTask.tap({ name: "agents-chat", lane: "policy", order: "pre" }, (call) => {
        if (call.outcome === "answered") turns.of(call.task)?.restore(call.run, call);
      });
      // The first tap of the lane, so that the other taps receive the content that is stored.
      hooks.beforeMemoryWrite.tap(
        { name: "agents-chat", lane: "transform", order: "pre" },
        ({ run, entry }) => {
          if (!turns.isTurn(run.id)) return undefined;
          // The store checks the entry.
          const { metadata } = (entry as MemoryEntry | null | undefined) ?? {};
          // Only entries of outputs have a description.
          const question = metadata?.[MEMORY_METADATA.taskDescription];
          if (question === undefined) return undefined;
          const content = `User: ${question}\nAssistant: ${entry.content}`;
          return replace({ entry: Object.freeze({ ...entry, content }) });
        },
      );
      // The last tap of the lane: other plugins store their data of a run before its turn is
      // stored.
      hooks.afterRun.tap({ name: "agents-chat", lane: "commit", order: "post" }, (call) =>
        turns.end(call.run, call.output),
      );
      hooks.afterRun.tap({ name: "agents-chat", lane: "transform", order: "post" }, (call) =>
        call.outcome === "ok"
          ? undefined
          : turns.end(call.run, AgentEnsembleError.find(call.error)?.output),
      );
    },
  });
}
