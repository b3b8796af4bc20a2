import type { UIChunk } from "../../../contracts/ui-stream.js";

type Push = (chunk: UIChunk) => void;

/** Texts, reasoning and steps of the shown tasks. A step is open while one of them has something to say in its model call. */
export class TextParts {
  readonly #push: Push;
  /** Tasks whose model call has brought something. */
  readonly #steps = new Set<string>();
  /** The open text of each task, by id. */
  readonly #open = new Map<string, string>();
  /** The last text of each task. */
  readonly #last = new Map<string, string>();
  /** Tasks of which a text was shown that was not accepted. */
  readonly #refused = new Set<string>();
  #texts = 0;
  #thoughts = 0;

  constructor(push: Push) {
    this.#push = push;
  }

  /** A part of the task's step follows. */
  enter(taskId: string): void {
    if (this.#steps.has(taskId)) return;
    if (this.#steps.size === 0) this.#push({ type: "start-step" });
    this.#steps.add(taskId);
  }

  /** The step of a task is over. */
  leave(taskId: string): void {
    this.endText(taskId);
    if (this.#steps.delete(taskId) && this.#steps.size === 0) this.#push({ type: "finish-step" });
  }

  add(taskId: string, delta: string): void {
    if (delta === "") return;
    this.enter(taskId);
    let id = this.#open.get(taskId);
    if (id === undefined) {
      id = `t${this.#texts++}`;
      this.#open.set(taskId, id);
      this.#last.set(taskId, "");
      this.#push({ type: "text-start", id });
    }
    this.#last.set(taskId, (this.#last.get(taskId) ?? "") + delta);
    this.#push({ type: "text-delta", id, delta });
  }

  endText(taskId: string): void {
    const id = this.#open.get(taskId);
    if (id === undefined) return;
    this.#open.delete(taskId);
    this.#push({ type: "text-end", id });
  }

  reason(taskId: string, text: string): void {
    this.enter(taskId);
    this.endText(taskId);
    const id = `r${this.#thoughts++}`;
    this.#push({ type: "reasoning-start", id });
    this.#push({ type: "reasoning-delta", id, delta: text });
    this.#push({ type: "reasoning-end", id });
  }

  /** What was shown of a task so far is not its output. */
  refuse(taskId: string): void {
    this.endText(taskId);
    if (this.#last.has(taskId)) this.#refused.add(taskId);
  }

  /** A model call failed in the middle of its text and is made again. */
  cutOff(taskId: string): void {
    if (this.#open.has(taskId)) this.refuse(taskId);
  }

  /** The accepted text of a task. Shows it where none was, and corrects what was shown. */
  accept(taskId: string, raw: string): void {
    const last = this.#last.get(taskId);
    if (last === undefined) this.add(taskId, raw);
    this.endText(taskId);
    if (last !== undefined && (last.trim() !== raw.trim() || this.#refused.has(taskId)))
      this.#push({ type: "data-answer", id: taskId, data: { text: raw } });
    this.#last.set(taskId, raw);
    this.#refused.delete(taskId);
  }

  endAll(): void {
    for (const taskId of [...this.#steps]) this.leave(taskId);
  }
}
