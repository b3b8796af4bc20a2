import type { Readable } from "node:stream";

/** Reads a stream to its end and keeps its first bytes. */
export class KeptOutput {
  /** Whether bytes were dropped. */
  truncated = false;
  /** Resolves when the stream has ended. Never rejects. */
  readonly closed: Promise<void>;
  readonly #chunks: Uint8Array[] = [];
  readonly #limit: number;
  readonly #stream: Readable;
  #size = 0;

  constructor(stream: Readable, limit: number) {
    this.#stream = stream;
    this.#limit = limit;
    this.closed = new Promise((resolve) => stream.once("close", resolve));
    stream.on("error", () => stream.destroy()); // a broken pipe ends the output
    stream.on("data", (chunk: Buffer) => this.#keep(chunk));
  }

  /**
   * Returns the kept bytes as UTF-8. Drops a character that the limit cut. Replaces other invalid
   * bytes by U+FFFD.
   */
  text(): string {
    return new TextDecoder().decode(Buffer.concat(this.#chunks), { stream: this.truncated });
  }

  /** Stops reading, even if a process could still write. */
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
