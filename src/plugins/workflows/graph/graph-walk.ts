import type { GraphEdge, GraphHistory } from "../../../contracts/graph.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { Plan, PlannedTask } from "../../../contracts/plan.js";
import type { Revision, Run } from "../../../contracts/run.js";
import type { AnyTask } from "../../../contracts/task.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { GRAPH_TEMPLATES } from "./graph-prompts.js";
import { ValidationError } from "../../../contracts/errors.js";
import {
  GraphNoEdgeMatchedError,
  MaxGraphStepsExceededError,
} from "../../../contracts/workflow-errors.js";
import { Graph } from "../../../contracts/graph.js";
import { breathe } from "../shared/breather.js";
import { decide } from "../shared/decision.js";
import { FinishedStep } from "./finished-step.js";
import { lastIn } from "../shared/last.js";

/** One execution of a graph. */
export class GraphWalk {
  readonly #steps: GraphHistory["steps"][number][] = [];
  readonly #outputs: TaskOutput[] = [];
  /** The visited states, the current one last. */
  readonly #visited: string[] = [];
  readonly #visits = new Map<string, number>();
  /** The output of each state's last visit, by task id. */
  readonly #latest = new Map<string, TaskOutput>();
  readonly #tasks: ReadonlyMap<string, PlannedTask>;
  /** The next state after the output that was decided last. */
  #decided: { readonly output: TaskOutput; readonly nextState: string } | undefined;
  readonly #edges = new Map<string, GraphEdge[]>();

  constructor(
    readonly graph: Graph,
    plan: Plan,
    readonly run: Run,
    readonly texts: PromptTexts<keyof typeof GRAPH_TEMPLATES>,
  ) {
    const byId = new Map(plan.tasks.map((task) => [task.id, task]));
    const states = Object.entries<AnyTask>(graph.states).map(
      ([state, task]) => [state, byId.get(plan.idOf(task) ?? "")] as const,
    );
    this.#tasks = new Map(
      states.flatMap(([state, task]) => (task === undefined ? [] : [[state, task] as const])),
    );
    for (const edge of graph.edges)
      this.#edges.set(edge.from, [...(this.#edges.get(edge.from) ?? []), edge]);
  }

  /**
   * Returns the outputs of all steps in order. If a step fails, the finished steps are also
   * reported.
   */
  async execute(): Promise<readonly TaskOutput[]> {
    const { graph, run } = this;
    let reason: GraphHistory["terminationReason"] | undefined;
    try {
      for (let state: string = graph.start; reason === undefined;) {
        state = await this.#step(state);
        if (state === Graph.END) reason = "terminal";
        else if (this.#steps.length === graph.maxSteps) reason = "maxSteps";
        await breathe(this.#steps.length);
      }
    } finally {
      run.reportWorkflow({ kind: "graph", graph, history: this.#history(reason) });
    }
    if (reason === "maxSteps" && graph.onMaxSteps === "THROW")
      throw new MaxGraphStepsExceededError(
        graph.name,
        graph.maxSteps,
        this.#visited.at(-1) ?? graph.start,
      );
    return this.#outputs;
  }

  /** Runs the task of one state. Returns the next state. */
  async #step(stateName: string): Promise<string> {
    const { run, graph } = this;
    const task = this.#tasks.get(stateName);
    if (task === undefined)
      throw new ValidationError(
        `Graph '${graph.name}' state '${stateName}' has no task in this plan`,
      );
    const revision = this.#feedback(stateName, this.#latest.get(task.id));
    // outputs of the visited states only
    const contextOutputs = task.contextIds.flatMap((id) => this.#latest.get(id) ?? []);
    const last = lastIn(run, (o) => this.#endsWith(stateName, o));
    const output = await run.runTask(task.id, { revision, contextOutputs, last });
    this.#outputs.push(output);
    this.#visited.push(stateName);
    this.#visits.set(stateName, (this.#visits.get(stateName) ?? 0) + 1);
    this.#latest.set(task.id, output);
    const stepNumber = this.#outputs.length;
    const nextState =
      this.#decided?.output === output
        ? this.#decided.nextState
        : this.#next(stateName, this.#outputs, this.#visited);
    this.#steps.push(Object.freeze({ stateName, stepNumber, output, nextState }));
    if (run.listens("graph_state_completed"))
      run.emit({
        type: "graph_state_completed",
        graphName: graph.name,
        stateName,
        stepNumber,
        nextState,
      });
    return nextState;
  }

  #feedback(state: string, previous: TaskOutput | undefined): Revision | undefined {
    const { injectFeedbackOnRevisit, noFeedbackStates } = this.graph;
    if (previous === undefined || !injectFeedbackOnRevisit || noFeedbackStates.includes(state))
      return undefined;
    const visit = (this.#visits.get(state) ?? 0) + 1;
    return {
      feedback: this.texts.render("graph.feedback", { state, visit }),
      previousOutput: previous.raw,
    };
  }

  /**
   * Whether the graph would end with this output. An error of an edge is ignored here. It is thrown
   * when the step itself is decided.
   */
  #endsWith(state: string, output: TaskOutput): boolean {
    const { maxSteps, onMaxSteps } = this.graph;
    const outputs = [...this.#outputs, output];
    try {
      const nextState = this.#next(state, outputs, [...this.#visited, state]);
      this.#decided = { output, nextState };
      return nextState === Graph.END || (outputs.length === maxSteps && onMaxSteps !== "THROW");
    } catch {
      return false;
    }
  }

  /**
   * Returns the target of the first edge that matches the last of these outputs.
   * @throws GraphNoEdgeMatchedError
   */
  #next(state: string, outputs: readonly TaskOutput[], visited: readonly string[]): string {
    const edges = this.#edges.get(state) ?? [];
    const lastOutput = outputs.at(-1);
    if (lastOutput === undefined)
      throw new ValidationError(`Graph '${this.graph.name}' state '${state}' has no output yet`);
    const step = new FinishedStep(state, lastOutput, outputs, visited);
    const taken = edges.find(
      ({ when, to }) =>
        when === undefined ||
        decide(
          `Graph '${this.graph.name}': when() of the edge from '${state}' to '${to}'`,
          when,
          step,
          lastOutput,
        ),
    );
    if (taken !== undefined) return taken.to;
    const candidates = edges.map(
      ({ to, when, label }) =>
        `→ ${to} (${label ?? (when === undefined ? "unconditional" : "predicate")})`,
    );
    throw new GraphNoEdgeMatchedError(this.graph.name, state, candidates, lastOutput.raw);
  }

  /** Returns the history. An interrupted graph has neither reason. See `stoppedByMaxSteps`. */
  #history(reason: GraphHistory["terminationReason"] | undefined): GraphHistory {
    return Object.freeze({
      steps: Object.freeze([...this.#steps]),
      terminationReason: reason ?? "maxSteps",
      stoppedByMaxSteps: reason === "maxSteps",
    });
  }
}
