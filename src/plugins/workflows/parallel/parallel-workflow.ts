import type { WorkflowExecutor } from "../../../contracts/executors.js";
import type { TaskOutput, WorkflowResult } from "../../../contracts/output.js";
import type { Plan } from "../../../contracts/plan.js";
import type { SubPlanOptions, Run } from "../../../contracts/run.js";
import type { DependencyNode } from "./dependency-graph.js";
import { AgentEnsembleError, RunCancelledError, endsRun } from "../../../contracts/errors.js";
import { ParallelExecutionError } from "../../../contracts/workflow-errors.js";
import { PARALLEL_OPTIONS } from "../shared/parallel-options.js";
import { describeTasks } from "../shared/describe-tasks.js";
import { lastIn } from "../shared/last.js";
import { buildGraph, checkGraph } from "./dependency-graph.js";
import { messageOf, toError } from "../../../util/errors.js";

/**
 * Number of tasks that start before control returns to the event loop. If thousands started at
 * once, all would use memory at the same stage.
 */
const STARTS_AT_ONCE = 500;

/**
 * One execution of the graph. It counts down open dependencies, so scheduling costs the same for
 * every edge.
 */
class DependencyRun {
  readonly #nodes: readonly DependencyNode[];
  readonly #failures = new Map<string, Error>();
  readonly #ready: DependencyNode[] = [];
  /** The number of nodes that are not done. */
  #left: number;
  /**
   * Shared by all tasks, so the first failure can stop the others. Present only if the plan
   * requires it.
   */
  readonly #siblings: AbortController | undefined;
  readonly #limit: number;
  #next = 0;
  #active = 0;
  #started = 0;
  #pausing = false;
  #halted: unknown;
  #finish: () => void = () => undefined;

  constructor(
    readonly plan: Plan,
    readonly run: Run,
  ) {
    this.#nodes = buildGraph(plan);
    this.#left = this.#nodes.length;
    this.#siblings =
      plan.options.parallelErrorStrategy === "CONTINUE_ON_ERROR"
        ? undefined
        : new AbortController();
    this.#limit = plan.options.maxConcurrency ?? Number.POSITIVE_INFINITY;
  }

  async execute(): Promise<WorkflowResult> {
    this.#ready.push(...this.#nodes.filter((n) => n.open === 0));
    await new Promise<void>((resolve) => {
      this.#finish = resolve;
      this.#advance();
    });
    if (this.#halted !== undefined) throw toError(this.#halted);
    const taskOutputs = this.#nodes.flatMap(({ output }) => output ?? []);
    if (this.#failures.size > 0)
      throw new ParallelExecutionError(this.#nodes.length, taskOutputs, this.#failures);
    return { raw: taskOutputs.at(-1)?.raw ?? "", taskOutputs };
  }

  #advance(): void {
    while (this.#halted === undefined && this.#active < this.#limit && !this.#pausing) {
      const node = this.#ready[this.#next];
      if (node === undefined) break;
      this.#next++;
      this.#start(node);
      if (++this.#started % STARTS_AT_ONCE === 0) this.#pause();
    }
    if (this.#active === 0 && (this.#halted !== undefined || this.#next === this.#ready.length))
      this.#finish();
  }

  #pause(): void {
    this.#pausing = true;
    setImmediate(() => {
      this.#pausing = false;
      this.#advance();
    });
  }

  #start(node: DependencyNode): void {
    this.#active++;
    const extras = {
      signal: this.#siblings?.signal,
      last: lastIn(this.run, node.dependents.length === 0 && (() => this.#endsWith(node))),
    };
    const work =
      node.body === undefined
        ? this.run.runTask(node.id, extras)
        : this.#runLoop(node.body, extras);
    work.then(
      (output) => {
        node.output = output;
        this.#release(node, false);
      },
      (error: unknown) => this.#failed(node, error),
    );
  }

  async #runLoop(body: readonly string[], o: SubPlanOptions): Promise<readonly TaskOutput[]> {
    return (await this.run.runWorkflow("LOOP", body, o)).taskOutputs;
  }

  /**
   * Whether this node is the only one left. Marks it as done. If two nodes ask at the same time,
   * the second one is the last.
   */
  #endsWith(node: DependencyNode): boolean {
    this.#pass(node);
    return this.#left === 0 && this.#failures.size === 0 && this.#halted === undefined;
  }

  #pass(node: DependencyNode): void {
    if (node.isThrough) return;
    node.isThrough = true;
    this.#left--;
  }

  #failed(node: DependencyNode, error: unknown): void {
    const stopped =
      this.run.signal.aborted || endsRun(error) || RunCancelledError.isInstance(error);
    if (stopped) this.#halted ??= error;
    else if (this.#siblings === undefined) this.#failures.set(node.id, toError(error));
    else if (this.#halted === undefined || RunCancelledError.isInstance(this.#halted)) {
      this.#halted = error;
      const message = `Stopped because '${node.id}' failed: ${messageOf(AgentEnsembleError.isInstance(error) ? (error.cause ?? error) : error)}`;
      this.#siblings.abort(new RunCancelledError(message, { cause: error }));
    }
    this.#release(node, true);
  }

  /**
   * Releases the dependants of a task that is done or skipped. They become ready or are also
   * skipped.
   */
  #release(node: DependencyNode, skip: boolean): void {
    this.#active--;
    const pending: [DependencyNode, boolean][] = [[node, skip]];
    for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
      const [done, failed] = entry;
      this.#pass(done);
      for (const dependent of done.dependents) {
        dependent.skipped ||= failed;
        if (--dependent.open > 0) continue;
        if (dependent.skipped) pending.push([dependent, true]);
        else this.#ready.push(dependent);
      }
    }
    this.#advance();
  }
}

export const parallelWorkflow: WorkflowExecutor = Object.freeze({
  name: "PARALLEL",
  reads: PARALLEL_OPTIONS,
  validate: checkGraph,
  describe(plan) {
    checkGraph(plan);
    return describeTasks(plan);
  },
  execute: (plan, run) => new DependencyRun(plan, run).execute(),
} satisfies WorkflowExecutor);
