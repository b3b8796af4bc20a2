import type { UIChunk } from "../../../contracts/ui-stream.js";

type Push = (chunk: UIChunk) => void;

/** An incomplete part: a text, or a block of reasoning with its number in its model call. */
interface OpenPart {
  readonly kind: "text" | "reasoning";
  readonly id: string;
  readonly index?: number;
}

/**
 * The texts, reasoning and steps of the shown tasks. A step is open once its model call has
 * produced parts.
 */
export class TextParts {
  readonly #push: Push;
  /** Tasks whose model call has produced parts. */
  readonly #steps = new Set<string>();
  /** The open part of each task. */
  readonly #open = new Map<string, OpenPart>();
  /** The last text of each task. */
  readonly #last = new Map<string, string>();
  /** Tasks whose model call has streamed reasoning. */
  readonly #thinking = new Set<string>();
  /** Tasks whose text continues after reasoning of the same model call. */
  readonly #interrupted = new Set<string>();
  /** Tasks with a shown text that was not accepted. */
  readonly #refused = new Set<string>();
  #texts = 0;
  #thoughts = 0;

  constructor(push: Push) {
    this.#push = push;
  }

  /** Called before a part of the step of a task. */
  enter(taskId: string): void {
    if (this.#steps.has(taskId)) return;
    if (this.#steps.size === 0) this.#push({ type: "start-step" });
    this.#steps.add(taskId);
  }

  /** Called at the end of the step of a task. */
  leave(taskId: string): void {
    this.#endCall(taskId);
    if (this.#steps.delete(taskId) && this.#steps.size === 0) this.#push({ type: "finish-step" });
  }

  add(taskId: string, delta: string): void {
    if (delta === "") return;
    this.enter(taskId);
    const open = this.#open.get(taskId);
    const id = open?.kind === "text" ? open.id : this.#beginText(taskId);
    this.#last.set(taskId, (this.#last.get(taskId) ?? "") + delta);
    this.#push({ type: "text-delta", id, delta });
  }

  endText(taskId: string): void {
    const open = this.#open.get(taskId);
    if (open === undefined) return;
    this.#open.delete(taskId);
    this.#push({ type: `${open.kind}-end`, id: open.id });
  }

  /** Adds the complete reasoning of a model call, unless it was streamed. */
  reason(taskId: string, text: string): void {
    if (this.#thinking.has(taskId)) return;
    this.think(taskId, 0, text);
    this.endText(taskId);
  }

  /** Adds a piece of the reasoning of a model call. */
  think(taskId: string, index: number, delta: string): void {
    if (delta === "") return;
    this.enter(taskId);
    this.#thinking.add(taskId);
    const open = this.#open.get(taskId);
    const isSame = open?.kind === "reasoning" && open.index === index;
    const id = isSame ? open.id : this.#beginThought(taskId, index);
    this.#push({ type: "reasoning-delta", id, delta });
  }

  /** Marks the shown text of a task as rejected. */
  refuse(taskId: string): void {
    this.#endCall(taskId);
    if (this.#last.has(taskId)) this.#refused.add(taskId);
  }

  /** Called when a model call failed within its text and is repeated. */
  cutOff(taskId: string): void {
    if (this.#open.get(taskId)?.kind === "text" || this.#interrupted.has(taskId))
      this.refuse(taskId);
    else this.#endCall(taskId);
  }

  /**
   * Adds the accepted text of a task. If no text was shown, shows it. If another text was shown,
   * corrects it.
   */
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

  #beginText(taskId: string): string {
    this.endText(taskId);
    const id = `t${this.#texts++}`;
    this.#open.set(taskId, { kind: "text", id });
    if (!this.#interrupted.delete(taskId)) this.#last.set(taskId, "");
    this.#push({ type: "text-start", id });
    return id;
  }

  #beginThought(taskId: string, index: number): string {
    if (this.#open.get(taskId)?.kind === "text") this.#interrupted.add(taskId);
    this.endText(taskId);
    const id = `r${this.#thoughts++}`;
    this.#open.set(taskId, { kind: "reasoning", id, index });
    this.#push({ type: "reasoning-start", id });
    return id;
  }

  #endCall(taskId: string): void {
    this.endText(taskId);
    this.#thinking.delete(taskId);
    this.#interrupted.delete(taskId);
  }
}
