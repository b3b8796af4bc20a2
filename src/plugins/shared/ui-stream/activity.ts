import type { Ev } from "../../../contracts/events.js";

interface WorkingTask {
  readonly parentTaskId: string | undefined;
  /** Tool calls in progress. */
  calls: number;
  /** Waiting reviews. */
  readonly reviews: Set<string>;
}

/** The pending work of the tasks of a run. */
export class Activity {
  readonly #tasks = new Map<string, WorkingTask>();
  readonly #reviews = new Map<string, string>();

  started({ taskId, parentTaskId }: Ev<"task_started">): void {
    this.#tasks.set(taskId, { parentTaskId, calls: 0, reviews: new Set() });
  }

  ended(taskId: string): void {
    for (const reviewId of this.#tasks.get(taskId)?.reviews ?? []) this.#reviews.delete(reviewId);
    this.#tasks.delete(taskId);
  }

  /** Counts a tool call that begins (1) or has ended (-1). */
  called(taskId: string, by: 1 | -1): void {
    const task = this.#tasks.get(taskId);
    if (task !== undefined) task.calls = Math.max(0, task.calls + by);
  }

  asked(taskId: string, reviewId: string): void {
    this.#tasks.get(taskId)?.reviews.add(reviewId);
    this.#reviews.set(reviewId, taskId);
  }

  answered(reviewId: string): void {
    this.#tasks.get(this.#reviews.get(reviewId) ?? "")?.reviews.delete(reviewId);
    this.#reviews.delete(reviewId);
  }

  /** Whether a review of a task is waiting for a decision. */
  isAsking(taskId: string): boolean {
    return (this.#tasks.get(taskId)?.reviews.size ?? 0) > 0;
  }

  /** Whether all remaining work waits for an answer. */
  get waitsForPeople(): boolean {
    if (this.#reviews.size === 0) return false;
    const children = new Map<string, number>();
    for (const { parentTaskId } of this.#tasks.values())
      if (parentTaskId !== undefined)
        children.set(parentTaskId, (children.get(parentTaskId) ?? 0) + 1);
    return [...this.#tasks].every(([taskId, { calls, reviews }]) => {
      const waits = reviews.size + (children.get(taskId) ?? 0);
      return waits > 0 && calls <= waits;
    });
  }
}
