import type { EnsembleEvent, Ev } from "../../contracts/events.js";
import type { LogContext } from "./log-sink.js";

interface LoggedTask {
  readonly verbose: boolean;
  readonly context: LogContext;
}

/** The state of one run that its lines depend on. */
export class RunState {
  #verbose = false;
  #toolLogTruncateLength = 200;
  readonly #toolless = new Set<string>();
  readonly #tasks = new Map<string, LoggedTask>();
  /** The delegations in progress, by the worker's task. */
  readonly #delegations = new Map<string | undefined, Ev<"delegation_started">>();

  /** The maximum number of shown characters of a tool's input and output. -1 means no limit. */
  get toolLogTruncateLength(): number {
    return this.#toolLogTruncateLength;
  }

  /** Returns whether the prompts and answers of a task are logged at level `info`. */
  isVerbose(taskId: string): boolean {
    return this.#tasks.get(taskId)?.verbose ?? this.#verbose;
  }

  /** Returns whether the agent of a task has no tools. */
  isToolless(taskId: string): boolean {
    return this.#toolless.has(taskId);
  }

  /** Updates the state with an event before it is logged. */
  follow(e: EnsembleEvent): void {
    switch (e.type) {
      case "ensemble_started":
        this.#verbose = e.verbose;
        this.#toolLogTruncateLength = e.toolLogTruncateLength;
        return;
      case "delegation_started":
        this.#delegations.set(e.workerTaskId, e);
        return;
      case "delegation_completed":
      case "delegation_failed":
        this.#delegations.delete(e.workerTaskId);
        return;
      case "task_started":
        this.#tasks.set(e.taskId, { verbose: e.verbose, context: this.#contextOf(e) });
        return;
      case "task_input":
        if (e.toolNames.length === 0) this.#toolless.add(e.taskId);
        else this.#toolless.delete(e.taskId);
        return;
      default:
    }
  }

  /** The fields of a line about this event. */
  contextOf(e: EnsembleEvent): LogContext {
    if (!("taskId" in e)) return { runId: e.runId };
    const known = this.#tasks.get(e.taskId)?.context ?? { runId: e.runId, taskId: e.taskId };
    return { ...known, agentRole: e.agentRole };
  }

  #contextOf(e: Ev<"task_started">): LogContext {
    const { runId, taskId, parentTaskId, agentRole, taskIndex, totalTasks } = e;
    const delegation = this.#delegations.get(taskId);
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
}
