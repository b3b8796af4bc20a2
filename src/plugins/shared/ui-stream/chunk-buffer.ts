import type { UIChunk } from "../../../contracts/ui-stream.js";
import { asText } from "../../../util/objects.js";

/** Maximum number of parts that wait for a reader. */
const LIMIT = 64;

/** Fields that identify the part of a delta. */
const OWNERS = ["id", "messageId", "toolCallId"];

/**
 * An ordered buffer of parts. A delta is merged with the previous delta of the same part. A state
 * replaces the previous state.
 */
export class ChunkBuffer {
  #chunks: UIChunk[] = [];

  get isFull(): boolean {
    return this.#chunks.length >= LIMIT;
  }

  add(chunks: readonly UIChunk[]): void {
    for (const chunk of chunks) {
      const last = this.#chunks.at(-1);
      const joined = last === undefined ? undefined : joinedChunk(last, chunk);
      if (joined === undefined) this.#chunks.push(chunk);
      else this.#chunks[this.#chunks.length - 1] = joined;
    }
  }

  shift(): UIChunk | undefined {
    return this.#chunks.shift();
  }

  clear(): void {
    this.#chunks = [];
  }
}

/** Merges two parts. Returns `undefined` if they do not belong together. */
function joinedChunk(first: UIChunk, second: UIChunk): UIChunk | undefined {
  if (first.type !== second.type || OWNERS.some((name) => first[name] !== second[name]))
    return undefined;
  if (typeof first["delta"] === "string")
    return { ...first, delta: first["delta"] + asText(second["delta"]) };
  return first.type.startsWith("data-") ? second : undefined;
}
