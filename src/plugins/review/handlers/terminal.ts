import type { LineSource } from "./line-input.js";
import { LineInput } from "./line-input.js";

/** What is written to. */
export interface TextSink {
  write(text: string): unknown;
}

/** Under this key a stream bears its terminal: whoever asks through one stream stands in one queue, however many handlers there are. */
const TERMINAL = Symbol.for("agentensemble/review-terminal");

/** So long a terminal has to be silent for what was pasted or typed ahead to be over. */
const QUIET_MS = 50;

/** Somebody at a keyboard, who is asked one thing at a time. */
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
    const bearer = source as { [TERMINAL]?: Terminal }; // set here only
    return (bearer[TERMINAL] ??= new Terminal(source));
  }

  /** Does `work` when those who came before have been answered. @throws the signal's reason where nobody wants it any more by then. */
  turn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const mine = this.#tail.then(() => {
      signal.throwIfAborted();
      return work();
    });
    this.#tail = mine.catch(() => undefined); // whoever asked is told
    return mine;
  }

  /** Forgets what was typed before the question was there to be read; what comes from a file or a pipe was meant for it. */
  async forgetTypedAhead(signal: AbortSignal): Promise<void> {
    if (this.#isTyped) await this.#lines.burst(QUIET_MS, signal);
  }

  /** `undefined` where the input has ended. */
  readLine(signal: AbortSignal): Promise<string | undefined> {
    return this.#lines.readLine(signal);
  }

  /** A line, and those that were pasted with it. */
  async readPaste(signal: AbortSignal): Promise<string | undefined> {
    const first = await this.#lines.readLine(signal);
    if (first === undefined || !this.#isTyped) return first;
    return [first, ...(await this.#lines.burst(QUIET_MS, signal))].join("\n");
  }
}
