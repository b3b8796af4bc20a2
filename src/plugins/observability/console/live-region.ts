import { columnCount } from "./column-text.js";

/** A terminal, or a stream that a test uses as one. */
export interface TerminalStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  /** 0 or absent if the terminal does not report its size. */
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

type RawWrite = (this: unknown, ...args: readonly unknown[]) => unknown;

/** A line on the screen: its text with styles, and its number of columns. */
export interface ScreenLine {
  readonly text: string;
  readonly columns: number;
}

/** Marks the `write` of a stream with an open region. */
const OPEN = Symbol.for("agentensemble.live-region");

/** Returns a line without styles. */
export function plainLine(text: string): ScreenLine {
  return { text, columns: columnCount(text) };
}

/** Returns the size of a terminal: 80 columns and 24 rows if it does not report one. */
export function screenSize({ columns = 0, rows = 0 }: TerminalStream): {
  readonly columns: number;
  readonly rows: number;
} {
  return { columns: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 };
}

/** Whether the stream already has an open region. */
export function hasRegion(stream: TerminalStream): boolean {
  return Reflect.has(stream.write, OPEN);
}

function endsLine(chunk: unknown): boolean {
  if (typeof chunk === "string") return chunk.endsWith("\n");
  return chunk instanceof Uint8Array && chunk.at(-1) === 10;
}

/**
 * Lines at the bottom of a terminal that are overwritten. Each change is one write that ends with a
 * line end. The cursor stays visible below the lines. A killed process therefore leaves the
 * terminal in a usable state. Other output of the program appears above the lines.
 */
export class LiveRegion {
  readonly #stream: TerminalStream;
  /** All streams to the same terminal. */
  readonly #shared: readonly TerminalStream[];
  readonly #restore: (() => void)[] = [];
  #write: (text: string) => unknown;
  #drawn: readonly ScreenLine[] = [];
  /** Whether the program has written an incomplete line. */
  #midLine = false;

  constructor(stream: TerminalStream, others: readonly TerminalStream[] = []) {
    this.#stream = stream;
    this.#shared = [stream, ...others];
    this.#write = (text) => stream.write(text);
  }

  /** Opens the region. Further output of the program appears above the lines. */
  open(): void {
    if (this.#restore.length > 0) return;
    const { write } = this.#stream;
    this.#write = (text) => Reflect.apply(write, this.#stream, [text]);
    for (const stream of this.#shared) this.#watch(stream);
  }

  /**
   * Draws the lines in place of the previous ones. Draws nothing after an incomplete line of the
   * program.
   */
  draw(lines: readonly ScreenLine[]): void {
    if (this.#midLine) return;
    const text = `${this.#erasing()}${lines.map((line) => `${line.text}\n`).join("")}`;
    this.#drawn = lines;
    if (text !== "") this.#write(text);
  }

  /** Writes complete lines above the drawn ones. */
  print(text: string): void {
    const below = this.#drawn;
    const start = this.#midLine ? "\n" : this.#erasing();
    this.#midLine = false;
    this.#drawn = below;
    this.#write(`${start}${text}${below.map((line) => `${line.text}\n`).join("")}`);
  }

  /** Removes an incomplete line, which is the question that a person has answered. */
  settle(): void {
    if (this.#midLine) this.#write("\r\u001B[K");
    this.#midLine = false;
  }

  /** Removes the lines and restores the streams. */
  close(): void {
    this.draw([]);
    for (const restore of this.#restore.splice(0).reverse()) restore();
    this.#midLine = false;
  }

  /**
   * Returns the control sequence that removes the drawn lines. If the window has become narrower,
   * the lines occupy more rows.
   */
  #erasing(): string {
    const { columns } = screenSize(this.#stream);
    const rows = this.#drawn.reduce(
      (sum, line) => sum + Math.max(1, Math.ceil(line.columns / columns)),
      0,
    );
    this.#drawn = [];
    return rows === 0 ? "" : `\r\u001B[${rows}A\u001B[J`;
  }

  #watch(stream: TerminalStream): void {
    const before = Object.getOwnPropertyDescriptor(stream, "write");
    const write = stream.write as RawWrite; // streams accept more arguments than the text
    const watched = Object.assign(
      (...args: readonly unknown[]): unknown => {
        const [chunk] = args;
        if (chunk !== "") {
          if (this.#drawn.length > 0) this.#write(this.#erasing());
          this.#midLine = !endsLine(chunk);
        }
        return Reflect.apply(write, stream, args);
      },
      { [OPEN]: true },
    );
    Object.defineProperty(stream, "write", { configurable: true, writable: true, value: watched });
    this.#restore.push(() => {
      if (stream.write !== watched) return; // another wrapper has replaced it and calls this one
      if (before === undefined) Reflect.deleteProperty(stream, "write");
      else Object.defineProperty(stream, "write", before);
    });
  }
}
