import type { WorkflowExecutor } from "../../../contracts/executors.js";
import type { WorkflowResult } from "../../../contracts/output.js";
import type { Graph } from "../../../contracts/graph.js";
import type { Plan } from "../../../contracts/plan.js";
import type { Run } from "../../../contracts/run.js";
import { ValidationError } from "../../../contracts/errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { PromptLibrary } from "../../../kernel/index.js";
import { GraphRun } from "./graph-run.js";
import { GRAPH_TEMPLATES } from "./templates.js";

/** Walks the graph of a plan from its start until an edge leads to the end. */
export class GraphWorkflow implements WorkflowExecutor {
  readonly name = "GRAPH";
  readonly #library = new PromptLibrary(GRAPH_TEMPLATES);

  validate(plan: Plan): void {
    if (plan.graph === undefined)
      throw new ValidationError("Workflow GRAPH needs a graph", {
        hint: "Give the ensemble a `graph` and no `workflow`.",
      });
  }

  async execute(plan: Plan, run: Run): Promise<WorkflowResult> {
    const graph: Graph | undefined = plan.graph; // whatever its states are, they have names
    if (graph === undefined) return { raw: "", taskOutputs: [] };
    const texts = this.#library.textsOf(run.all(Tokens.PromptTemplates));
    const taskOutputs = await new GraphRun(graph, plan, run, texts).execute();
    return { raw: taskOutputs.at(-1)?.raw ?? "", taskOutputs };
  }
}
