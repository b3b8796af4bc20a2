import type { LineSource } from "./line-input.js";
import { LineInput } from "./line-input.js";

/** The output of a terminal. */
export interface TextSink {
  write(text: string): unknown;
}

/** The property of a stream that holds its terminal. All handlers of one stream share its queue. */
const TERMINAL = Symbol.for("agentensemble/review-terminal");

/** The pause, in milliseconds, that ends pasted or prematurely typed text. */
const QUIET_MS = 50;

/** A terminal that asks a person one question at a time. */
export class Terminal {
  readonly #lines: LineInput;
  readonly #isTyped: boolean;
  #tail: Promise<unknown> = Promise.resolve();

  private constructor(source: LineSource) {
    this.#lines = new LineInput(source);
    this.#isTyped = source.isTTY === true;
  }

  /** The terminal of a stream. */
  static at(source: LineSource): Terminal {
    const bearer = source as { [TERMINAL]?: Terminal }; // only this method sets the property
    return (bearer[TERMINAL] ??= new Terminal(source));
  }

  /**
   * Executes `work` after all earlier questions.
   * @throws the reason of the signal if it aborts before.
   */
  turn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const mine = this.#tail.then(() => {
      signal.throwIfAborted();
      return work();
    });
    this.#tail = mine.catch(() => undefined); // the caller receives the error
    return mine;
  }

  /** Discards text that was typed before the question. Text from a file or a pipe is kept. */
  async forgetTypedAhead(signal: AbortSignal): Promise<void> {
    if (this.#isTyped) await this.#lines.burst(QUIET_MS, signal);
  }

  /** Returns `undefined` at the end of the input. */
  readLine(signal: AbortSignal): Promise<string | undefined> {
    return this.#lines.readLine(signal);
  }

  /** Returns a line with the lines that were pasted together with it. */
  async readPaste(signal: AbortSignal): Promise<string | undefined> {
    const first = await this.#lines.readLine(signal);
    if (first === undefined || !this.#isTyped) return first;
    return [first, ...(await this.#lines.burst(QUIET_MS, signal))].join("\n");
  }
}
