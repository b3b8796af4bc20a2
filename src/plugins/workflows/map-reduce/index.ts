import type { Plugin } from "../../../contracts/plugin.js";
import type { Reduction } from "./reduction.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { MAP_REDUCE_ADAPTIVE, mapReduceWorkflow, purposeOf } from "./map-reduce-workflow.js";

export { MAP_REDUCE_ADAPTIVE, purposeOf };
export type { Reduction };

/**
 * The workflow MAP_REDUCE_ADAPTIVE for one reduction. It runs the map tasks of the plan, then as
 * many reduce levels as their outputs need.
 */
export function mapReduce(reduction: Reduction): Plugin & Required<Pick<Plugin, "bind">> {
  return definePlugin({
    name: "workflow-map-reduce",
    dependsOn: ["workflow-parallel"],
    bind(bind) {
      bind.many(Tokens.WorkflowExecutor).toConstantValue(mapReduceWorkflow(reduction));
    },
  });
}
