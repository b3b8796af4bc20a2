import type { WorkflowExecutor } from "../../../contracts/executors.js";
import type { WorkflowResult } from "../../../contracts/output.js";
import type { Graph } from "../../../contracts/graph.js";
import type { Plan } from "../../../contracts/plan.js";
import type { PlanDescription } from "../../../contracts/plan-description.js";
import type { Run } from "../../../contracts/run.js";
import { ValidationError } from "../../../contracts/errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { PromptLibrary } from "../../shared/prompts/prompt-library.js";
import { describeGraph } from "./describe-graph.js";
import { GraphWalk } from "./graph-walk.js";
import { GRAPH_TEMPLATES } from "./graph-prompts.js";

/** Runs the graph of a plan from its start state until an edge leads to the end. */
export class GraphWorkflow implements WorkflowExecutor {
  readonly name = "GRAPH";
  readonly reads = [];
  readonly #library = new PromptLibrary(GRAPH_TEMPLATES);

  validate(plan: Plan): void {
    if (plan.graph === undefined)
      throw new ValidationError("Workflow GRAPH needs a graph", {
        hint: "Give the ensemble a `graph` and no `workflow`.",
      });
  }

  describe(plan: Plan): PlanDescription {
    return describeGraph(plan);
  }

  async execute(plan: Plan, run: Run): Promise<WorkflowResult> {
    const graph: Graph | undefined = plan.graph; // widens the type of the state names to string
    if (graph === undefined) return { raw: "", taskOutputs: [] };
    const texts = this.#library.textsOf(run.all(Tokens.PromptTemplates), run);
    const taskOutputs = await new GraphWalk(graph, plan, run, texts).execute();
    return { raw: taskOutputs.at(-1)?.raw ?? "", taskOutputs };
  }
}
