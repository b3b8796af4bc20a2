import type { UIChunk } from "../../../contracts/ui-stream.js";

type Push = (chunk: UIChunk) => void;

/** A part that grows: a text, or a block of reasoning with its number in its model call. */
interface OpenPart {
  readonly kind: "text" | "reasoning";
  readonly id: string;
  readonly index?: number;
}

/** Texts, reasoning and steps of the shown tasks. A step is open while one of them has something to say in its model call. */
export class TextParts {
  readonly #push: Push;
  /** Tasks whose model call has brought something. */
  readonly #steps = new Set<string>();
  /** The open part of each task. */
  readonly #open = new Map<string, OpenPart>();
  /** The last text of each task. */
  readonly #last = new Map<string, string>();
  /** Tasks whose model call has brought reasoning in pieces. */
  readonly #thinking = new Set<string>();
  /** Tasks whose text goes on behind reasoning of the same model call. */
  readonly #interrupted = new Set<string>();
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

  /** The whole reasoning of a model call. Not shown again where it came in pieces. */
  reason(taskId: string, text: string): void {
    if (this.#thinking.has(taskId)) return;
    this.think(taskId, 0, text);
    this.endText(taskId);
  }

  /** A piece of the reasoning of a model call. */
  think(taskId: string, index: number, delta: string): void {
    if (delta === "") return;
    this.enter(taskId);
    this.#thinking.add(taskId);
    const open = this.#open.get(taskId);
    const isSame = open?.kind === "reasoning" && open.index === index;
    const id = isSame ? open.id : this.#beginThought(taskId, index);
    this.#push({ type: "reasoning-delta", id, delta });
  }

  /** What was shown of a task so far is not its output. */
  refuse(taskId: string): void {
    this.#endCall(taskId);
    if (this.#last.has(taskId)) this.#refused.add(taskId);
  }

  /** A model call failed in the middle of its text and is made again. */
  cutOff(taskId: string): void {
    if (this.#open.get(taskId)?.kind === "text" || this.#interrupted.has(taskId))
      this.refuse(taskId);
    else this.#endCall(taskId);
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
