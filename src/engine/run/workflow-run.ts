import type { Agent } from "../../contracts/agent.js";
import type { EnsembleEvent, NewEvent } from "../../contracts/events.js";
import type { TaskOutput, WorkflowResult } from "../../contracts/output.js";
import type { Plan } from "../../contracts/plan.js";
import type {
  DefineOptions,
  IsLast,
  SubPlanOptions,
  Run,
  WorkflowReport,
  RunTaskOptions,
} from "../../contracts/run.js";
import type { AnyTask } from "../../contracts/task.js";
import type { Token } from "../../contracts/token.js";
import type { Inputs } from "../../contracts/types.js";
import type { ActiveRun } from "./active-run.js";
import { agentOf, teamOf } from "../tasks/agents.js";
import { subPlan } from "../plan/plan.js";
import { runTask } from "../tasks/run-task.js";

const WHOLE: SubPlanOptions = Object.freeze({});

/** A run, or a part of a run, for workflows. */
export class WorkflowRun implements Run {
  readonly #run: ActiveRun;
  readonly #part: SubPlanOptions;
  /** The part's signal, joined once with each other signal: tasks still share one signal. */
  readonly #joined = new WeakMap<AbortSignal, AbortSignal>();
  constructor(
    run: ActiveRun,
    readonly plan: Plan,
    part: SubPlanOptions = WHOLE,
    readonly last: IsLast | undefined = undefined,
  ) {
    this.#run = run;
    this.#part = part;
  }
  get id(): string {
    return this.#run.info.id;
  }
  get signal(): AbortSignal {
    return this.#part.signal ?? this.#run.cancellation.signal;
  }
  get inputs(): Inputs {
    return this.#run.info.inputs;
  }
  get tags(): Readonly<Record<string, string>> {
    return this.#run.info.tags;
  }
  runTask(taskId: string, extras?: RunTaskOptions): Promise<TaskOutput> {
    return runTask(
      this.#run,
      taskId,
      this.#part === WHOLE ? extras : this.#withPart(taskId, extras),
    );
  }
  async runWorkflow(
    name: string,
    taskIds: readonly string[],
    o: SubPlanOptions = WHOLE,
  ): Promise<WorkflowResult> {
    const part = subPlan(this.plan, (id) => this.#run.planned(id), taskIds);
    const workflow = this.#run.settings.workflow(name);
    workflow.validate?.(part);
    const signal = o.signal === undefined ? this.#part.signal : this.#join(o.signal);
    const revisions = o.revisions ?? this.#part.revisions;
    return workflow.execute(
      part,
      new WorkflowRun(
        this.#run,
        part,
        signal === undefined && revisions === undefined ? WHOLE : { signal, revisions },
        o.last,
      ),
    );
  }
  agentOf(taskId: string): Promise<Agent | undefined> {
    return agentOf(this.#run, this.#run.planned(taskId));
  }
  get workers(): readonly Agent[] {
    return [...teamOf(this.#run).values()];
  }
  reportWorkflow(part: WorkflowReport): void {
    this.#run.reports.push(part);
  }
  define(task: AnyTask, o?: DefineOptions): string {
    return this.#run.define(task, o);
  }
  emit(e: NewEvent): void {
    this.#run.emit(e);
  }
  listens(type: EnsembleEvent["type"]): boolean {
    return this.#run.events.listens(type);
  }
  get<T>(token: Token<T>): T {
    return this.#run.settings.get(token);
  }
  find<T>(token: Token<T>): T | undefined {
    return this.#run.settings.find(token);
  }
  all<T>(token: Token<T, "many">): readonly T[] {
    return this.#run.settings.all(token);
  }
  #withPart(taskId: string, extras: RunTaskOptions = {}): RunTaskOptions {
    const { signal, revisions } = this.#part;
    return {
      ...extras,
      signal: extras.signal === undefined ? signal : this.#join(extras.signal),
      revision: extras.revision ?? revisions?.get(taskId),
    };
  }
  /** Returns a signal that aborts with `signal`, the part's signal or the run's. */
  #join(signal: AbortSignal): AbortSignal {
    if (signal === this.signal) return signal;
    let joined = this.#joined.get(signal);
    if (joined === undefined) {
      joined = AbortSignal.any([this.signal, signal]);
      this.#joined.set(signal, joined);
    }
    return joined;
  }
}
