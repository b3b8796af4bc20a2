import type { Agent } from "../contracts/agent.js";
import type { EnsembleEvent, NewEvent } from "../contracts/events.js";
import type { TaskOutput, WorkflowResult } from "../contracts/output.js";
import type { Plan } from "../contracts/plan.js";
import type {
  DefineOptions,
  IsLast,
  PartOptions,
  Run,
  RunReport,
  TaskExtras,
} from "../contracts/run.js";
import type { AnyTask } from "../contracts/task.js";
import type { Token } from "../contracts/tokens.js";
import type { Inputs } from "../contracts/types.js";
import type { EngineRun } from "./engine-run.js";
import { agentOf } from "./agent-resolution.js";
import { workersOf } from "./workers.js";
import { findWorkflow } from "./engine-run.js";
import { subPlan } from "./plan.js";
import { runTask } from "./run-task.js";

const WHOLE: PartOptions = Object.freeze({});

/** A run, or a part of it, as workflows see it. */
export class RunView implements Run {
  readonly #run: EngineRun;
  readonly #part: PartOptions;
  /** The part's signal joined with another one, so that all tasks that share a signal go on sharing one. */
  readonly #joined = new WeakMap<AbortSignal, AbortSignal>();
  constructor(
    run: EngineRun,
    readonly plan: Plan,
    part: PartOptions = WHOLE,
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
  runTask(taskId: string, extras?: TaskExtras): Promise<TaskOutput> {
    return runTask(
      this.#run,
      taskId,
      this.#part === WHOLE ? extras : this.#withPart(taskId, extras),
    );
  }
  async runWorkflow(
    name: string,
    taskIds: readonly string[],
    o: PartOptions = WHOLE,
  ): Promise<WorkflowResult> {
    const part = subPlan(this.plan, (id) => this.#run.planned(id), taskIds);
    const workflow = findWorkflow(this.#run.settings, name);
    workflow.validate?.(part);
    const signal = o.signal === undefined ? this.#part.signal : this.#join(o.signal);
    const revisions = o.revisions ?? this.#part.revisions;
    return workflow.execute(
      part,
      new RunView(
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
    return workersOf(this.#run);
  }
  report(part: RunReport): void {
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
  #withPart(taskId: string, extras: TaskExtras = {}): TaskExtras {
    const { signal, revisions } = this.#part;
    return {
      ...extras,
      signal: extras.signal === undefined ? signal : this.#join(extras.signal),
      revision: extras.revision ?? revisions?.get(taskId),
    };
  }
  /** Aborted as soon as `signal`, the part's own or the run's is. */
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
