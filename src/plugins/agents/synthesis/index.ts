import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { templateSynthesizer } from "./template-synthesizer.js";
import { SYNTHESIS_TEMPLATES } from "./synthesis-prompts.js";

/** Makes agents for tasks without one, from their descriptions; gives way to any other AgentSynthesizer. */
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
