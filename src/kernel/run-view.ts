import type { Agent } from "../contracts/agent.js";
import type { EnsembleEvent, NewEvent } from "../contracts/events.js";
import type { TaskOutput, WorkflowResult } from "../contracts/output.js";
import type { Plan } from "../contracts/plan.js";
import type { DefineOptions, Run, RunReport, TaskExtras } from "../contracts/run.js";
import type { AnyTask } from "../contracts/task.js";
import type { Token } from "../contracts/tokens.js";
import type { Inputs } from "../contracts/types.js";
import type { EngineRun } from "./engine-run.js";
import { agentOf, workersOf } from "./agent-resolution.js";
import { findWorkflow } from "./engine-run.js";
import { subPlan } from "./plan.js";
import { runTask } from "./run-task.js";

/** A run as workflows see it. */
export class RunView implements Run {
  readonly #run: EngineRun;
  constructor(
    run: EngineRun,
    readonly plan: Plan,
  ) {
    this.#run = run;
  }
  get id(): string {
    return this.#run.info.id;
  }
  get signal(): AbortSignal {
    return this.#run.cancellation.signal;
  }
  get inputs(): Inputs {
    return this.#run.info.inputs;
  }
  runTask(taskId: string, extras?: TaskExtras): Promise<TaskOutput> {
    return runTask(this.#run, taskId, extras);
  }
  async runWorkflow(name: string, taskIds: readonly string[]): Promise<WorkflowResult> {
    const part = subPlan(this.plan, (id) => this.#run.planned(id), taskIds);
    const workflow = findWorkflow(this.#run.settings, name);
    workflow.validate?.(part);
    return workflow.execute(part, new RunView(this.#run, part));
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
    this.#run.events.emit(e);
  }
  listens(type: EnsembleEvent["type"]): boolean {
    return this.#run.events.listens(type);
  }
  get<T>(token: Token<T>): T {
    return this.#run.settings.get(token);
  }
  all<T>(token: Token<T, "many">): readonly T[] {
    return this.#run.settings.all(token);
  }
}
