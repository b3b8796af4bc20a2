import type { Ev } from "../../../contracts/events.js";
import type { UIStreamOptions } from "../../../contracts/ui-stream.js";

/** Workflows that execute the tasks of the list and whose last task has the answer. */
const LISTED = ["SEQUENTIAL", "PARALLEL"];

/**
 * Determines the tasks whose text, reasoning and tool calls a page shows. A task that has not begun
 * is not shown.
 */
export class ShownTasks {
  readonly #text: UIStreamOptions["text"];
  readonly #shown = new Set<string>();
  #workflow = "";

  constructor(text: UIStreamOptions["text"]) {
    this.#text = text;
  }

  /** Whether only the answer of the run is shown. */
  get onlyAnswer(): boolean {
    return this.#text === undefined || this.#text === "answer";
  }

  /** Whether the task with the answer is known at its start. */
  get isAnswerKnown(): boolean {
    return this.#workflow === "HIERARCHICAL" || this.#inList();
  }

  get withPartialOutputs(): boolean {
    return this.#text === "all";
  }

  begin({ workflow }: Ev<"ensemble_started">): void {
    this.#workflow = workflow;
  }

  started(e: Ev<"task_started">): void {
    if (this.#isShown(e)) this.#shown.add(e.taskId);
    else this.#shown.delete(e.taskId);
  }

  has(taskId: string): boolean {
    return this.#shown.has(taskId);
  }

  #isShown(e: Ev<"task_started">): boolean {
    if (this.#text === "all") return true;
    if (typeof this.#text === "function")
      return this.#text({ taskId: e.taskId, agentRole: e.agentRole });
    return e.parentTaskId === undefined && this.#hasAnswer(e);
  }

  /** Whether a task is known at its start to produce the output of the run. */
  #hasAnswer({ taskIndex, totalTasks }: Ev<"task_started">): boolean {
    if (this.#workflow === "HIERARCHICAL") return taskIndex === 0; // the manager, which is not in the list
    if (this.#workflow === "MAP_REDUCE") return false; // outputs determine which task is the last
    return taskIndex > 0 && taskIndex === totalTasks && (totalTasks === 1 || this.#inList());
  }

  #inList(): boolean {
    return LISTED.includes(this.#workflow);
  }
}
