import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { AGENT_TEMPLATES } from "../shared/agent-prompts.js";
import { ReactExecutor } from "./react-executor.js";

/**
 * Executes the tasks that have no handler. Calls the model of the task, executes the requested
 * tools, and parses the last answer. Provides the prompt texts.
 */
export function agentsReact(): Plugin {
  return definePlugin({
    name: "agents-react",
    bind(bind) {
      bind.many(Tokens.TaskExecutor).toConstantValue(new ReactExecutor());
      bind.many(Tokens.PromptTemplates).toConstantValue(AGENT_TEMPLATES);
    },
  });
}
