import type { EmbeddingModel } from "../../../contracts/embedding.js";
import { ValidationError } from "../../../contracts/errors.js";
import { MemoryStoreError } from "../../../contracts/state-errors.js";
import { preview } from "../../../contracts/validation.js";
import { messageOf } from "../../../util/errors.js";

/** What is being done, for the errors. */
export interface Doing {
  readonly operation: string;
  readonly scope: string;
}

/** A task asks several scopes the same question, and its attempts ask again: a model need not be paid for each. */
const KEPT_QUERIES = 64;

function isDirection(numbers: readonly unknown[]): boolean {
  let length = 0;
  for (const number of numbers) {
    if (typeof number !== "number" || !Number.isFinite(number)) return false;
    length += number * number;
  }
  return length > 0 && Number.isFinite(length);
}

/** The vectors of texts, checked: a model that answers nonsense must not spoil what is stored. */
export class TextVectors {
  readonly #model: EmbeddingModel;
  readonly #queries = new Map<string, Promise<readonly number[]>>();
  #dimensions: number | undefined;

  constructor(model: EmbeddingModel) {
    this.#model = model;
  }

  /** How long the vectors are; asks the model for one where it has not said. */
  async dimensions(doing: Doing): Promise<number> {
    this.#dimensions ??= this.#model.dimensions;
    return this.#dimensions ?? (await this.of("dimensions", doing)).length;
  }

  /** @throws MemoryStoreError where the model fails, or gives other than one vector of finite numbers that is as long as those before and not all zeros. */
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

  /** The same for a question; the latest ones are kept. */
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
    const [vector] = vectors as readonly unknown[]; // a list of whatever a model gave
    if (vectors.length !== 1) return refuse(`${vectors.length} vectors for 1 text`);
    if (!Array.isArray(vector) || !isDirection(vector))
      return refuse(`a vector without a direction: ${preview(vector)}`);
    this.#dimensions ??= this.#model.dimensions ?? vector.length;
    if (vector.length !== this.#dimensions)
      return refuse(`a vector of ${vector.length} numbers where ${this.#dimensions} are expected`);
    return vector as readonly number[]; // isDirection has looked at every number
  }
}
