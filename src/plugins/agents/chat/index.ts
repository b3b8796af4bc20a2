import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { ChatExecutor } from "./chat-executor.js";
import { ChatTurns, ChatTurnsToken } from "./chat-turn.js";

export { ChatTurnsToken } from "./chat-turn.js";
export type { ChatProgress, ChatTurn, ChatTurns, SeenThread, WindowReader } from "./chat-turn.js";

/** Does the turns of conversations. */
export function agentsChat(): Plugin {
  return definePlugin({
    name: "agents-chat",
    bind(bind) {
      const turns = new ChatTurns();
      bind.single(ChatTurnsToken).toConstantValue(turns);
      bind.many(Tokens.TaskExecutor).toConstantValue(new ChatExecutor(turns));
    },
  });
}
