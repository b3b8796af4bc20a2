import type { EnsembleEvent, Ev } from "../../contracts/events.js";
import type { LogContext } from "./log-sink.js";

interface TaskState {
  readonly verbose: boolean;
  readonly context: LogContext;
}

/** What the lines of one run depend on. */
export class RunState {
  #verbose = false;
  #toolLogTruncateLength = 200;
  readonly #tasks = new Map<string, TaskState>();
  /** Delegations whose task has not started yet. */
  #delegations: readonly Ev<"delegation_started">[] = [];

  /** Characters of a tool's input and output that are shown; -1 for all. */
  get toolLogTruncateLength(): number {
    return this.#toolLogTruncateLength;
  }

  /** Whether the prompts and answers of a task are shown at level info. */
  isVerbose(taskId: string): boolean {
    return this.#tasks.get(taskId)?.verbose ?? this.#verbose;
  }

  /** Takes note of an event before it is logged. */
  follow(e: EnsembleEvent): void {
    switch (e.type) {
      case "ensemble_started":
        this.#verbose = e.verbose;
        this.#toolLogTruncateLength = e.toolLogTruncateLength;
        return;
      case "delegation_started":
        this.#delegations = [...this.#delegations, e];
        return;
      case "delegation_completed":
      case "delegation_failed":
        this.#delegations = this.#delegations.filter((d) => d.delegationId !== e.delegationId);
        return;
      case "task_started":
        this.#tasks.set(e.taskId, { verbose: e.verbose, context: this.#contextOf(e) });
        return;
      default:
    }
  }

  /** What a line about this event bears. */
  contextOf(e: EnsembleEvent): LogContext {
    if (!("taskId" in e)) return { runId: e.runId };
    const known = this.#tasks.get(e.taskId)?.context ?? { runId: e.runId, taskId: e.taskId };
    return { ...known, agentRole: e.agentRole };
  }

  #contextOf(e: Ev<"task_started">): LogContext {
    const { runId, taskId, parentTaskId, agentRole, taskIndex, totalTasks } = e;
    const delegation = this.#delegationOf(e);
    return {
      runId,
      taskId,
      agentRole,
      ...(taskIndex > 0 && { taskIndex: `${taskIndex}/${totalTasks}` }),
      ...(parentTaskId !== undefined && { parentTaskId }),
      ...(delegation !== undefined && {
        delegationId: delegation.delegationId,
        delegationDepth: delegation.delegationDepth,
      }),
    };
  }

  /** The delegation that a task starts for; a task of the plan may have another description than its delegation. */
  #delegationOf(e: Ev<"task_started">): Ev<"delegation_started"> | undefined {
    const waiting = this.#delegations.filter(
      (d) => d.taskId === e.parentTaskId && d.workerRole === e.agentRole,
    );
    const found = waiting.find((d) => d.taskDescription === e.taskDescription) ?? waiting[0];
    this.#delegations = this.#delegations.filter((d) => d !== found);
    return found;
  }
}
