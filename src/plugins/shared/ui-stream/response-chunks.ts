import type { UIChunk } from "../../../contracts/ui-stream.js";
import type { ChunkSource } from "./chunk-response.js";
import type { RunChunks } from "./run-chunks.js";

/** The parts of one response, up to a pause or to the end. Later events do not change them. */
export class ResponseChunks implements ChunkSource {
  readonly #chunks: RunChunks;
  /** The rest of the response at the start of the next one. */
  #rest: UIChunk[] | undefined;
  #isOver = false;

  constructor(chunks: RunChunks) {
    this.#chunks = chunks;
  }

  async next(): Promise<UIChunk | undefined> {
    if (this.#isOver) return undefined;
    const chunk = this.#rest === undefined ? await this.#chunks.next() : this.#rest.shift();
    if (chunk === undefined || this.#chunks.isLast(chunk)) this.#isOver = true;
    return chunk;
  }

  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#rest === undefined) this.#chunks.leave();
  }

  /**
   * Returns the next response after a pause. A slow reader of this response receives the rest of
   * it.
   */
  follow(options: Parameters<RunChunks["startNextResponse"]>[0]): ResponseChunks {
    this.#rest = this.#isOver ? [] : this.#chunks.takeRest();
    this.#chunks.startNextResponse(options);
    return new ResponseChunks(this.#chunks);
  }
}
