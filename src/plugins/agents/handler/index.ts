import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { HandlerExecutor } from "./handler-executor.js";

/** Executes the tasks that have a handler (a function or a tool), without a model. */
export function agentsHandler(): Plugin {
  return definePlugin({
    name: "agents-handler",
    bind(bind) {
      bind.many(Tokens.TaskExecutor).toConstantValue(new HandlerExecutor());
    },
  });
}
