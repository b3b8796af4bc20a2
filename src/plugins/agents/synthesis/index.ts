import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { templateSynthesizer } from "./template-synthesizer.js";
import { SYNTHESIS_TEMPLATES } from "./synthesis-prompts.js";

/**
 * Creates agents from the descriptions of tasks that have no agent. Any other AgentSynthesizer
 * overrides it.
 */
export function agentsSynthesis(): Plugin {
  return definePlugin({
    name: "agents-synthesis",
    bind(bind) {
      bind
        .single(Tokens.AgentSynthesizer, { default: true })
        .toConstantValue(templateSynthesizer());
      bind.many(Tokens.PromptTemplates).toConstantValue(SYNTHESIS_TEMPLATES);
    },
  });
}
