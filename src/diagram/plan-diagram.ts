import type { Plugin } from "../contracts/plugin.js";
import { definePlugin } from "../contracts/plugin.js";
import { Tokens } from "../contracts/tokens.js";
import { dagOf, describedBy } from "./dag.js";

/** Binds the diagram of a run's plan, for the event `run_planned`. One of the standard plugins. */
export function planDiagram(): Plugin {
  return definePlugin({
    name: "plan-diagram",
    bind: (bind) =>
      void bind.single(Tokens.PlanDiagram, { default: true }).toConstantValue({
        dagOf: (plan, workflow) => dagOf(describedBy(plan, workflow)),
      }),
  });
}
