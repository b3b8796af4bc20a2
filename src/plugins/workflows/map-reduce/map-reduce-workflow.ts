import type { Purpose } from "../../../contracts/chat-model.js";
import type { WorkflowExecutor } from "../../../contracts/executors.js";
import type { MapReduceNode } from "../../../contracts/map-reduce.js";
import type { TaskOutput, WorkflowResult } from "../../../contracts/output.js";
import type { Plan, PlannedTask } from "../../../contracts/plan.js";
import type { Run } from "../../../contracts/run.js";
import type { AnyTask } from "../../../contracts/task.js";
import type { Reduction } from "./reduction.js";
import { ParallelExecutionError } from "../../../contracts/workflow-errors.js";
import { PARALLEL_OPTIONS } from "../shared/parallel-options.js";
import { packBins, totalTokens } from "./bin-packing.js";
import { SizeEstimate } from "./size-estimate.js";

/** The name of the workflow in traces. */
export const MAP_REDUCE_ADAPTIVE = "MAP_REDUCE_ADAPTIVE";

/** Returns the purpose of a task's model calls. A `direct` task does the work of the whole tree. */
export function purposeOf({ nodeType }: MapReduceNode): Purpose {
  if (nodeType === "map") return "map";
  return nodeType === "direct" ? "task" : "reduce";
}

/** An output to be reduced. */
interface PlannedPart {
  readonly task: AnyTask;
  readonly output: TaskOutput;
  readonly tokens: number;
}

/** One run of a reduction. Each level is a sub-plan of PARALLEL, so the run's limits apply. */
class ReductionRun {
  readonly #outputs: TaskOutput[] = [];
  readonly #counter: SizeEstimate;
  readonly #tasks: ReadonlyMap<string, PlannedTask>;

  constructor(
    readonly reduction: Reduction,
    readonly plan: Plan,
    readonly run: Run,
  ) {
    this.#counter = new SizeEstimate(reduction.tokenEstimator, (message) => this.#warn(message));
    this.#tasks = new Map(plan.tasks.map((task) => [task.id, task]));
  }

  async execute(): Promise<WorkflowResult> {
    const direct = this.#planned("direct")[0];
    if (direct !== undefined) return this.#finish(direct.id);
    const maps = this.#planned("map");
    const mapped = await this.#map(maps.map(({ id }) => id));
    const { parts, level } = await this.#shrink(mapped);
    // The planned final reduce has all maps in its context. It can be used only if no map failed
    // and no level preceded it.
    const planned =
      parts === mapped && parts.length === maps.length
        ? this.#planned("final-reduce")[0]?.id
        : undefined;
    return this.#finish(
      planned ?? this.#define(parts, { nodeType: "final-reduce", mapReduceLevel: level }).id,
    );
  }

  /**
   * Reduces level by level until the outputs fit the budget or a level no longer shortens them.
   * `level` is the level of the final reduce.
   */
  async #shrink(
    mapped: readonly PlannedPart[],
  ): Promise<{ readonly parts: readonly PlannedPart[]; readonly level: number }> {
    const { maxReduceLevels, budget } = this.reduction;
    let parts = mapped;
    let level = 1;
    for (; this.#isOver(parts); level++) {
      if (level > maxReduceLevels) {
        this.#warn(
          `After ${maxReduceLevels} levels (maxReduceLevels) the outputs still have ${totalTokens(parts)} tokens, more than the budget of ${budget}`,
        );
        return { parts, level };
      }
      const reduced = await this.#reduceLevel(parts, level);
      if (reduced === undefined) return { parts, level };
      const stuck = totalTokens(reduced) >= totalTokens(parts);
      parts = reduced;
      if (!stuck) continue;
      this.#warn(
        `Level ${level} of the reduction did not shorten the outputs, so it is the last before the final reduce`,
      );
      return { parts, level: level + 1 };
    }
    return { parts, level };
  }

  /**
   * Runs the maps and drops those that failed.
   * @throws the first failure if all failed
   */
  async #map(ids: readonly string[]): Promise<readonly PlannedPart[]> {
    try {
      const { taskOutputs } = await this.run.runWorkflow("PARALLEL", ids, { last: false });
      return this.#parts(taskOutputs, (id) => this.#tasks.get(id)?.task);
    } catch (error) {
      if (!ParallelExecutionError.isInstance(error)) throw error;
      const { completedTaskOutputs } = error;
      if (completedTaskOutputs.length === 0) throw firstFailure(error);
      this.#warn(
        `${ids.length - completedTaskOutputs.length} of ${ids.length} map tasks failed; the others are reduced without them`,
      );
      return this.#parts(completedTaskOutputs, (id) => this.#tasks.get(id)?.task);
    }
  }

  /**
   * Runs one reduce per bin of outputs. Returns `undefined` if the number of bins can't decrease. A
   * failed reduce fails the run, because its inputs would be lost.
   */
  async #reduceLevel(
    parts: readonly PlannedPart[],
    level: number,
  ): Promise<readonly PlannedPart[] | undefined> {
    const { budget } = this.reduction;
    const bins = packBins(parts, budget);
    if (bins.length === parts.length) {
      this.#warn(
        `No two of ${parts.length} outputs fit into the budget of ${budget} tokens together, so the final reduce receives them unchanged`,
      );
      return undefined;
    }
    const large = parts.filter(({ tokens }) => tokens > budget);
    if (large.length > 0)
      this.#warn(
        `${large.length} of ${parts.length} outputs are larger than the budget of ${budget} tokens: ${shortList(large)}. Each is reduced alone`,
      );
    const reduces = new Map(
      bins
        .map((bin) => this.#define(bin, { nodeType: "reduce", mapReduceLevel: level }))
        .map(({ id, task }) => [id, task]),
    );
    try {
      const { taskOutputs } = await this.run.runWorkflow("PARALLEL", [...reduces.keys()], {
        last: false,
      });
      return this.#parts(taskOutputs, (id) => reduces.get(id));
    } catch (error) {
      throw ParallelExecutionError.isInstance(error) ? firstFailure(error) : error;
    }
  }

  #define(
    parts: readonly PlannedPart[],
    mapReduce: MapReduceNode,
  ): { readonly task: AnyTask; readonly id: string } {
    const tasks = parts.map(({ task }) => task);
    const { task, id } = this.reduction.reduce(tasks, mapReduce);
    this.run.define(task, { id, mapReduce, purpose: purposeOf(mapReduce) });
    return { task, id };
  }

  async #finish(id: string): Promise<WorkflowResult> {
    const output = await this.run.runTask(id, { last: this.run.last });
    return { raw: output.raw, taskOutputs: [...this.#outputs, output] };
  }

  #parts(
    outputs: readonly TaskOutput[],
    taskOf: (id: string) => AnyTask | undefined,
  ): readonly PlannedPart[] {
    this.#outputs.push(...outputs);
    return outputs.flatMap((output) => {
      const task = taskOf(output.taskId);
      return task === undefined ? [] : [{ task, output, tokens: this.#counter.tokensOf(output) }];
    });
  }

  #isOver(parts: readonly PlannedPart[]): boolean {
    return totalTokens(parts) > this.reduction.budget;
  }

  #planned(nodeType: MapReduceNode["nodeType"]): readonly PlannedTask[] {
    return this.plan.tasks.filter(({ mapReduce }) => mapReduce?.nodeType === nodeType);
  }

  #warn(message: string): void {
    this.run.emit({ type: "run_warning", message });
  }
}

function firstFailure(error: ParallelExecutionError): Error {
  return error.failedTaskCauses.values().next().value ?? error;
}

/** Returns a text with the ids of some of the tasks. */
function shortList(parts: readonly PlannedPart[]): string {
  const names = parts.slice(0, 3).map(({ output }) => output.taskId);
  return parts.length > names.length ? `${names.join(", ")}, ...` : names.join(", ");
}

/** Creates the workflow of one reduction. */
export function mapReduceWorkflow(reduction: Reduction): WorkflowExecutor {
  return Object.freeze({
    name: MAP_REDUCE_ADAPTIVE,
    reads: PARALLEL_OPTIONS,
    execute: (plan: Plan, run: Run) => new ReductionRun(reduction, plan, run).execute(),
  });
}
