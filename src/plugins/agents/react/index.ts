import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { AGENT_TEMPLATES } from "../shared/agent-prompts.js";
import { ReactExecutor } from "./react-executor.js";

/** Does the tasks that have no handler: asks the task's model, calls the tools it requests, and parses its last answer. Brings the prompt texts. */
export function agentsReact(): Plugin {
  return definePlugin({
    name: "agents-react",
    bind(bind) {
      bind.many(Tokens.TaskExecutor).toConstantValue(new ReactExecutor());
      bind.many(Tokens.PromptTemplates).toConstantValue(AGENT_TEMPLATES);
    },
  });
}
