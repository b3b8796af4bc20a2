import type { EnsembleEvent } from "../../../contracts/events.js";

/** The work of a task in progress. */
interface ActivityWork {
  parentTaskId: string | undefined;
  /** Tool calls in progress. */
  tools: number;
  /** Delegated tasks in progress. */
  children: number;
  /** Open questions of the task to people. */
  questions: number;
}

/** Event types that {@link Activity.see} needs. */
export const ACTIVITY_EVENTS = [
  "task_started",
  "task_completed",
  "task_failed",
  "tool_started",
  "tool_called",
] as const;

/**
 * Determines whether a run waits only for people. No task is then executing, calling a model or a
 * tool, or waiting for a retry or a rate limit.
 */
export class Activity {
  readonly #tasks = new Map<string, ActivityWork>();
  readonly #questions = new Map<string, number>();
  /** Model calls that create an agent, before the start of its task. */
  #calls = 0;

  constructor(
    /** Called after a possible change. */
    readonly onChange: () => void,
  ) {}

  /** The open questions to people. Empty if there are none. */
  get questions(): readonly string[] {
    return [...this.#questions.keys()];
  }

  /** Whether a question is open and nothing else is in progress. */
  get waitsForPeople(): boolean {
    if (this.#questions.size === 0 || this.#calls > 0) return false;
    for (const { tools, children, questions } of this.#tasks.values())
      if (Math.max(1, tools) - children - questions > 0) return false;
    return true;
  }

  see(event: EnsembleEvent): void {
    switch (event.type) {
      case "task_started":
        this.#started(event.taskId, event.parentTaskId);
        break;
      case "task_completed":
      case "task_failed":
        this.#ended(event.taskId);
        break;
      case "tool_started":
        this.#count(event.taskId, 1);
        break;
      case "tool_called":
        this.#count(event.taskId, -1);
        break;
      default:
        return;
    }
    this.onChange();
  }

  /** Counts the start or the end of a model call that creates an agent. */
  countCall(change: 1 | -1): void {
    this.#calls += change;
    this.onChange();
  }

  asks(taskId: string, question: string): void {
    this.#ask(taskId, question, 1);
  }

  answered(taskId: string, question: string): void {
    this.#ask(taskId, question, -1);
  }

  #started(taskId: string, parentTaskId: string | undefined): void {
    this.#tasks.set(taskId, { parentTaskId, tools: 0, children: 0, questions: 0 });
    const parent = parentTaskId === undefined ? undefined : this.#tasks.get(parentTaskId);
    if (parent !== undefined) parent.children++;
  }

  #ended(taskId: string): void {
    const { parentTaskId = "" } = this.#tasks.get(taskId) ?? {};
    const parent = this.#tasks.get(parentTaskId);
    if (parent !== undefined && this.#tasks.has(taskId)) parent.children--;
    this.#tasks.delete(taskId);
  }

  #count(taskId: string, change: 1 | -1): void {
    const doing = this.#tasks.get(taskId);
    if (doing !== undefined) doing.tools = Math.max(0, doing.tools + change);
  }

  #ask(taskId: string, question: string, change: 1 | -1): void {
    const doing = this.#tasks.get(taskId);
    if (doing !== undefined) doing.questions += change;
    const name = `${taskId}: ${question}`;
    const count = (this.#questions.get(name) ?? 0) + change;
    if (count > 0) this.#questions.set(name, count);
    else this.#questions.delete(name);
    this.onChange();
  }
}
