import type { Plugin } from "../../contracts/plugin.js";
import type { GuardrailsOptions } from "./guardrail-runner.js";
import { definePlugin } from "../../contracts/plugin.js";
import { GuardrailRunner } from "./guardrail-runner.js";

export type { GuardrailsOptions } from "./guardrail-runner.js";

/**
 * Applies the input guardrails of a task before the task causes costs. Applies the output
 * guardrails to its output. One of the standard plugins. Add it yourself only to change the time
 * limit.
 * @throws ValidationError for an unknown option or a time limit that is not a positive number.
 */
export function guardrails(options: GuardrailsOptions = {}): Plugin {
  const runner = new GuardrailRunner(options);
  return definePlugin({
    name: "guardrails",
    apply({ hooks }) {
      hooks.beforeTask.tap({ name: "guardrails", lane: "policy" }, (call) =>
        runner.judgeInput(call),
      );
      hooks.afterTask.tap({ name: "guardrails", lane: "policy" }, (call) =>
        runner.judgeOutput(call),
      );
    },
  });
}
