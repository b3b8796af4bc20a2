import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { PeerDelegation } from "./peer-delegation.js";
import { DELEGATION_TEMPLATES } from "./peer-prompts.js";

/**
 * Adds the tool `delegate` to every agent with `allowDelegation`. The tool delegates subtasks to
 * other agents of the run.
 */
export function delegationPeer(): Plugin {
  return definePlugin({
    name: "delegation-peer",
    bind(bind) {
      bind.many(Tokens.AgentToolSource).toConstantValue(new PeerDelegation());
      bind.many(Tokens.PromptTemplates).toConstantValue(DELEGATION_TEMPLATES);
    },
  });
}
