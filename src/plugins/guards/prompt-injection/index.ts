import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { GUARD_NAME, InjectionGuard } from "./injection-guard.js";
import { INJECTION_TEMPLATES } from "./injection-prompts.js";
import { checkInjectionOptions, type PromptInjectionOptions } from "./prompt-injection-options.js";

export type { PromptInjectionOptions } from "./prompt-injection-options.js";

/**
 * Finds instructions to the model in tool results, documents and memory. Uses heuristics for
 * several languages, and a model as judge if one is given. Marks the text, refuses it or asks a
 * person. No heuristic finds every attack, so also limit the permissions of tools.
 *
 * @throws ValidationError for an unknown option or an invalid value.
 */
export function promptInjection(options: PromptInjectionOptions = {}): Plugin {
  checkInjectionOptions(options);
  const guard = new InjectionGuard(options);
  const tap = { name: GUARD_NAME };
  const marks = guard.action === "mark";
  const readsDocuments = options.documents !== false || options.inputs !== undefined;
  return definePlugin({
    name: GUARD_NAME,
    bind: (bind) => void bind.many(Tokens.PromptTemplates).toConstantValue(INJECTION_TEMPLATES),
    apply({ hooks }) {
      guard.tasks.follow(hooks, GUARD_NAME);
      if (guard.action === "refuse")
        hooks.afterToolCall.tap({ ...tap, lane: "policy" }, (call) => guard.judgeResult(call));
      else
        hooks.afterToolCall.tap({ ...tap, lane: "transform", order: "post" }, (call) =>
          guard.result(call),
        );
      hooks.afterToolCall.tap({ ...tap, lane: "transform", order: "post" }, (call) =>
        guard.noteFailure(call),
      );
      hooks.beforeLlmCall.tap({ ...tap, lane: "transform" }, (call) =>
        call.purpose === "judge" ? undefined : guard.failures(call),
      );
      if (readsDocuments && marks)
        hooks.beforeLlmCall.tap({ ...tap, lane: "transform" }, (call) =>
          call.purpose === "judge" ? undefined : guard.request(call),
        );
      if (readsDocuments && !marks)
        hooks.beforeLlmCall.tap({ ...tap, lane: "policy" }, (call) =>
          call.purpose === "judge" ? undefined : guard.judgeRequest(call),
        );
      if (options.memory === false) return;
      if (marks)
        hooks.beforeMemoryWrite.tap({ ...tap, lane: "transform" }, (call) => guard.entry(call));
      else
        hooks.beforeMemoryWrite.tap({ ...tap, lane: "policy" }, (call) => guard.judgeEntry(call));
    },
  });
}
