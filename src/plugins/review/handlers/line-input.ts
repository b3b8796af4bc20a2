import { StringDecoder } from "node:string_decoder";

/** The source of lines: `process.stdin`, a socket or another readable stream of Node.js. */
export interface LineSource {
  on(event: string, listener: (chunk: Uint8Array | string) => void): unknown;
  off(event: string, listener: (chunk: Uint8Array | string) => void): unknown;
  pause(): unknown;
  resume(): unknown;
  /** Whether the stream is a terminal. Text typed before a question is discarded only then. */
  readonly isTTY?: boolean | undefined;
  readonly readableEnded?: boolean | undefined;
  readonly destroyed?: boolean | undefined;
}

const ENDS = ["end", "close", "error"];

/**
 * Reads the lines of a stream, one at a time. It listens to the stream only while a line is
 * awaited, so the process can end. Further text that arrives with a line is kept for the next
 * question. An interface of node:readline would lose this text when it is closed, and would listen
 * while it is open.
 */
export class LineInput {
  readonly #source: LineSource;
  readonly #decoder = new StringDecoder("utf8");
  #text = "";
  #ended = false;
  #listening = false;
  /** The callbacks of the caller that waits for a line. */
  #onChange: (() => void) | undefined;

  constructor(source: LineSource) {
    this.#source = source;
  }

  /**
   * Returns the next line without its line ending. Returns `undefined` at the end of the input. One
   * call at a time.
   * @throws the reason of the signal.
   */
  readLine(signal: AbortSignal): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      const settle = (end: () => void): void => {
        this.#onChange = undefined;
        signal.removeEventListener("abort", onAbort);
        setImmediate(() => this.#rest());
        end();
      };
      const onAbort = (): void => settle(() => reject(signal.reason));
      const deliver = (): void => {
        const line = this.#take();
        if (line !== undefined || this.#ended) settle(() => resolve(line));
      };
      if (signal.aborted) return onAbort();
      signal.addEventListener("abort", onAbort, { once: true });
      this.#onChange = deliver;
      if (this.#source.readableEnded === true || this.#source.destroyed === true) this.#onEnd();
      else deliver();
      if (this.#onChange !== undefined) this.#listen();
    });
  }

  readonly #onData = (chunk: Uint8Array | string): void => {
    this.#text += typeof chunk === "string" ? chunk : this.#decoder.write(Buffer.from(chunk));
    this.#onChange?.();
  };

  /** Returns the remaining text as a line. */
  readonly #onEnd = (): void => {
    if (!this.#ended) this.#text += this.#decoder.end();
    if (!this.#ended && this.#text !== "" && !this.#text.endsWith("\n")) this.#text += "\n";
    this.#ended = true;
    this.#onChange?.();
  };

  #listen(): void {
    if (this.#listening) return;
    this.#listening = true;
    this.#source.on("data", this.#onData);
    for (const event of ENDS) this.#source.on(event, this.#onEnd);
    this.#source.resume();
  }

  /**
   * Stops listening. It must not be called within an event of the stream. Standard input would
   * start to read again and keep the process alive.
   */
  #rest(): void {
    if (this.#onChange !== undefined || !this.#listening) return;
    this.#listening = false;
    this.#source.pause();
    this.#source.off("data", this.#onData);
    for (const event of ENDS) this.#source.off(event, this.#onEnd);
  }

  /**
   * Returns the lines that arrive without a pause of `ms` milliseconds. They come from a paste, or
   * were typed before the question.
   */
  async burst(ms: number, signal: AbortSignal): Promise<readonly string[]> {
    const lines: string[] = [];
    for (;;) {
      const quiet = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
      try {
        const line = await this.readLine(quiet);
        if (line === undefined) return lines;
        lines.push(line);
      } catch (error) {
        if (signal.aborted) throw error;
        this.#text = ""; // discards an incomplete line
        return lines;
      }
    }
  }

  #take(): string | undefined {
    const end = this.#text.indexOf("\n");
    if (end < 0) return undefined;
    const line = this.#text.slice(0, end);
    this.#text = this.#text.slice(end + 1);
    return line.endsWith("\r") ? line.slice(0, -1) : line;
  }
}
