import type { Plugin } from "../../contracts/plugin.js";
import { replace } from "../../contracts/hooks.js";
import { definePlugin } from "../../contracts/plugin.js";
import { Tokens } from "../../contracts/tokens.js";
import { inMemoryReflections } from "./in-memory-reflections.js";
import { Reflector } from "./reflector.js";
import { REFLECTION_TEMPLATES } from "./reflection-prompts.js";

/**
 * Derives a lesson from each finished task with `reflect`, and adds it to the prompt of later
 * executions. A failure is a warning, because the task itself is finished.
 */
export function reflection(): Plugin {
  const ephemeral = inMemoryReflections();
  const reflector = new Reflector(ephemeral);
  return definePlugin({
    name: "reflection",
    bind(bind) {
      bind.single(Tokens.ReflectionStore, { default: true }).toConstantValue(ephemeral);
      bind.many(Tokens.PromptTemplates).toConstantValue(REFLECTION_TEMPLATES);
    },
    apply({ hooks }) {
      hooks.beforeTask.tap({ name: "notes of earlier runs", lane: "transform" }, (call) => {
        if (call.task.reflect === false) return undefined;
        return reflector
          .notes(call)
          .then((section) =>
            section === undefined
              ? undefined
              : replace({ promptSections: [...call.promptSections, section] }),
          );
      });
      hooks.afterTask.tap({ name: "reflect", lane: "commit" }, (call) => {
        if (call.task.reflect === false || call.outcome !== "ok") return undefined;
        return reflector.reflect(call, call.output);
      });
    },
  });
}
