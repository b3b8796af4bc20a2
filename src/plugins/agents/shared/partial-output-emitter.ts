import type { TaskCall } from "../../../contracts/hooks.js";
import type { TaskScope } from "../../../contracts/run.js";
import { isDeepStrictEqual } from "node:util";

/**
 * The minimum growth between two reads of the text, in characters and as a share of the text.
 * Reading it again for each token would take quadratic time.
 */
const STEP = 24;
const SHARE = 0.05;

type Parse = (text: string) => unknown;

/**
 * Reads a structured answer while it is streamed, and emits its parts. The parser is loaded on
 * first use.
 */
export class PartialOutputEmitter {
  #text = "";
  #next = STEP;
  #last: unknown;

  private constructor(
    readonly call: TaskCall,
    readonly scope: TaskScope,
    readonly parse: Parse,
  ) {}

  static async of(call: TaskCall, scope: TaskScope): Promise<PartialOutputEmitter> {
    const { parse, Allow } = await import("partial-json");
    return new PartialOutputEmitter(call, scope, (text) => parse(text, Allow.ALL) as unknown);
  }

  /** Returns whether there is a listener and a structured answer to read. */
  static wanted(call: TaskCall, scope: TaskScope): boolean {
    return call.task.outputType !== undefined && scope.streaming && scope.listens("partial_output");
  }

  add(text: string): void {
    this.#text += text;
    if (this.#text.length < this.#next) return;
    this.#next = this.#text.length + Math.max(STEP, this.#text.length * SHARE);
    const partial = this.#read();
    if (partial === undefined || isDeepStrictEqual(partial, this.#last)) return;
    this.#last = partial;
    const { taskId, parentTaskId } = this.scope;
    const identity = parentTaskId === undefined ? { taskId } : { taskId, parentTaskId };
    this.scope.emit({
      type: "partial_output",
      ...identity,
      agentRole: this.call.agent?.role ?? "",
      taskDescription: this.call.task.description,
      partial,
    });
  }

  /**
   * Reads the text from its first bracket. Leading words and an incomplete last token are no error.
   */
  #read(): unknown {
    const start = this.#text.search(/[{[]/);
    if (start < 0) return undefined;
    try {
      return this.parse(this.#text.slice(start));
    } catch {
      return undefined;
    }
  }
}
