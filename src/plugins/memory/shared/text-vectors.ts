import type { EmbeddingModel } from "../../../contracts/embedding.js";
import { ValidationError } from "../../../contracts/errors.js";
import { MemoryStoreError } from "../../../contracts/state-errors.js";
import { preview } from "../../../contracts/validation.js";
import { messageOf } from "../../../util/errors.js";

/** The current operation, for error messages. */
export interface Doing {
  readonly operation: string;
  readonly scope: string;
}

/**
 * Number of cached queries. A task searches several scopes with the same query, as do its further
 * attempts. The cache saves model calls.
 */
const KEPT_QUERIES = 64;

function isDirection(numbers: readonly unknown[]): boolean {
  let length = 0;
  for (const number of numbers) {
    if (typeof number !== "number" || !Number.isFinite(number)) return false;
    length += number * number;
  }
  return length > 0 && Number.isFinite(length);
}

/**
 * Returns validated vectors of texts, so that an invalid response of the model can't corrupt the
 * store.
 */
export class TextVectors {
  readonly #model: EmbeddingModel;
  readonly #queries = new Map<string, Promise<readonly number[]>>();
  #dimensions: number | undefined;

  constructor(model: EmbeddingModel) {
    this.#model = model;
  }

  /** Returns the length of the vectors. Embeds a text if the model does not declare it. */
  async dimensions(doing: Doing): Promise<number> {
    this.#dimensions ??= this.#model.dimensions;
    return this.#dimensions ?? (await this.of("dimensions", doing)).length;
  }

  /**
   * Embeds a text.
   * @throws MemoryStoreError if the model fails or returns an invalid vector. A valid result is
   * exactly one vector of finite numbers, not all zeros, with the same length as before.
   */
  async of(text: string, doing: Doing): Promise<readonly number[]> {
    let vectors: readonly (readonly number[])[];
    try {
      vectors = await this.#model.embed([text]);
    } catch (cause) {
      if (ValidationError.isInstance(cause)) throw cause;
      throw new MemoryStoreError(
        `Memory scope '${preview(doing.scope)}': the embedding model failed: ${messageOf(cause)}`,
        doing,
        { cause },
      );
    }
    return this.#checked(vectors, doing);
  }

  /** Embeds a query. The latest results are cached. */
  async ofQuery(text: string, doing: Doing): Promise<readonly number[]> {
    const known = this.#queries.get(text);
    const vector = known ?? this.of(text, doing);
    this.#queries.delete(text);
    this.#queries.set(text, vector);
    for (const oldest of this.#queries.keys()) {
      if (this.#queries.size <= KEPT_QUERIES) break;
      this.#queries.delete(oldest);
    }
    try {
      return await vector;
    } catch (error) {
      if (this.#queries.get(text) === vector) this.#queries.delete(text);
      throw error;
    }
  }

  #checked(vectors: unknown, doing: Doing): readonly number[] {
    const refuse = (problem: string): never => {
      throw new MemoryStoreError(
        `Memory scope '${preview(doing.scope)}': the embedding model gave ${problem}`,
        doing,
        {
          hint: "embed(texts) resolves to one list of finite numbers for each text, all of the same length and none all zeros.",
        },
      );
    };
    if (!Array.isArray(vectors)) return refuse(`no list of vectors but ${preview(vectors)}`);
    const [vector] = vectors as readonly unknown[]; // unvalidated output of the model
    if (vectors.length !== 1) return refuse(`${vectors.length} vectors for 1 text`);
    if (!Array.isArray(vector) || !isDirection(vector))
      return refuse(`a vector without a direction: ${preview(vector)}`);
    this.#dimensions ??= this.#model.dimensions ?? vector.length;
    if (vector.length !== this.#dimensions)
      return refuse(`a vector of ${vector.length} numbers where ${this.#dimensions} are expected`);
    return vector as readonly number[]; // isDirection has checked every number
  }
}
