import type { Readable } from "node:stream";

/** Reads a stream to its end and keeps the first bytes of it. */
export class KeptOutput {
  /** Whether something was dropped. */
  truncated = false;
  /** Settles when there is nothing more to come; never fails. */
  readonly closed: Promise<void>;
  readonly #chunks: Uint8Array[] = [];
  readonly #limit: number;
  readonly #stream: Readable;
  #size = 0;

  constructor(stream: Readable, limit: number) {
    this.#stream = stream;
    this.#limit = limit;
    this.closed = new Promise((resolve) => stream.once("close", resolve));
    stream.on("error", () => stream.destroy()); // a broken pipe is the end of the output
    stream.on("data", (chunk: Buffer) => this.#keep(chunk));
  }

  /** What was kept, as UTF-8; a character that the limit cut through is left out, other bytes that are none become U+FFFD. */
  text(): string {
    return new TextDecoder().decode(Buffer.concat(this.#chunks), { stream: this.truncated });
  }

  /** Stops reading, though somebody may still write. */
  close(): void {
    this.#stream.destroy();
  }

  #keep(chunk: Buffer): void {
    const room = this.#limit - this.#size;
    if (chunk.length > room) this.truncated = true;
    if (room <= 0) return;
    const kept = chunk.subarray(0, room);
    this.#chunks.push(kept);
    this.#size += kept.length;
  }
}
