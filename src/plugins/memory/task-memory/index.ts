import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { TaskMemories } from "./task-memories.js";
import { MEMORY_TEMPLATES } from "./task-memory-prompts.js";

/**
 * Adds the content of scopes and of the ensemble's `memory` to the prompts of tasks, and stores
 * their accepted outputs.
 */
export function memory(): Plugin {
  const memories = new TaskMemories();
  return definePlugin({
    name: "memory",
    bind(bind) {
      bind.many(Tokens.PromptTemplates).toConstantValue(MEMORY_TEMPLATES);
    },
    apply({ hooks }) {
      hooks.beforeRun.tap({ name: "memory", lane: "policy" }, ({ run }) => memories.check(run));
      hooks.beforeTask.tap({ name: "memory", lane: "transform" }, (call) => memories.tell(call));
      hooks.afterTask.tap({ name: "memory", lane: "commit" }, (call) => memories.keep(call));
    },
  });
}
