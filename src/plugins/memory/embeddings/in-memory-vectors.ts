import { setImmediate as nextTurn } from "node:timers/promises";
import type { StoredVector, VectorMatch, VectorStore } from "../../../contracts/embedding.js";
import type { MemoryEntry } from "../../../contracts/memory.js";
import { MemoryStoreError } from "../../../contracts/state-errors.js";

/**
 * The index of a scope. Rows are only appended. A removal creates a new index, so that a running
 * search keeps its snapshot.
 */
interface Index {
  readonly rows: StoredVector[];
  /** The vectors of the rows in sequence, with spare capacity. */
  vectors: Float32Array;
}

// Number of multiplications, a few milliseconds, before yielding to the event loop.
const MULTIPLICATIONS_AT_ONCE = 2_000_000;

/** Writes `vector` with length 1 at `start`. */
function putDirection(into: Float32Array, start: number, vector: readonly number[]): void {
  const length = Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0));
  for (const [i, number] of vector.entries()) into[start + i] = number / length;
}

function cosine(vectors: Float32Array, start: number, query: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < query.length; i++) sum += (vectors[start + i] ?? 0) * (query[i] ?? 0);
  return sum;
}

/**
 * Returns the vectors of the kept rows. Copies contiguous ranges, because usually the oldest rows
 * are removed.
 */
function stayingVectors(
  { rows, vectors }: Index,
  gone: ReadonlySet<string>,
  count: number,
  dimensions: number,
): Float32Array {
  const staying = new Float32Array(count * dimensions);
  let end = 0;
  for (let from = 0, to = 0; from < rows.length; from = to + 1) {
    for (to = from; to < rows.length && !gone.has(rows[to]?.id ?? "");) to++;
    staying.set(vectors.subarray(from * dimensions, to * dimensions), end);
    end += (to - from) * dimensions;
  }
  return staying;
}

/** The best results so far. Sorting at intervals is cheaper than inserting each result in order. */
class Best {
  readonly #limit: number;
  #found: { readonly position: number; readonly score: number }[] = [];
  #least = -Infinity;

  constructor(limit: number) {
    this.#limit = limit;
  }

  offer(position: number, score: number): void {
    if (score < this.#least) return;
    this.#found.push({ position, score });
    if (this.#found.length >= this.#limit * 2 + 1_000) this.#cut();
  }

  /** Returns the best first. Of equal results the later one comes first. */
  inOrder(): readonly { readonly position: number; readonly score: number }[] {
    this.#cut();
    return this.#found;
  }

  #cut(): void {
    this.#found = this.#found
      .sort((a, b) => b.score - a.score || b.position - a.position)
      .slice(0, this.#limit);
    if (this.#found.length === this.#limit) this.#least = this.#found.at(-1)?.score ?? -Infinity;
  }
}

/**
 * Keeps vectors in memory and compares all vectors of a scope. Exact, and fast enough for a hundred
 * thousand entries per scope.
 */
export class InMemoryVectors implements VectorStore {
  readonly #indexes = new Map<string, Index>();
  readonly #versions = new Map<string, number>();
  #dimensions: number | undefined;
  #lastId = 0;

  /**
   * Returns how often a scope was changed. A change takes effect, and a search takes its snapshot,
   * in the turn of the call.
   */
  versionOf(scope: string): number {
    return this.#versions.get(scope) ?? 0;
  }

  async add(scope: string, entry: MemoryEntry, vector: readonly number[]): Promise<void> {
    this.#checkLength(vector, "store", scope);
    const index = this.#indexes.get(scope) ?? { rows: [], vectors: new Float32Array(0) };
    this.#indexes.set(scope, index);
    const start = index.rows.length * vector.length;
    if (start + vector.length > index.vectors.length) {
      const wider = new Float32Array(Math.max(vector.length, index.vectors.length * 2));
      wider.set(index.vectors);
      index.vectors = wider;
    }
    putDirection(index.vectors, start, vector);
    index.rows.push(Object.freeze({ id: String(++this.#lastId), entry }));
    this.#changed(scope);
  }

  async search(
    scope: string,
    vector: readonly number[],
    maxResults: number,
  ): Promise<readonly VectorMatch[]> {
    const index = this.#indexes.get(scope);
    if (index === undefined) return [];
    this.#checkLength(vector, "retrieve", scope);
    const query = new Float32Array(vector.length);
    putDirection(query, 0, vector);
    const { rows, vectors } = index;
    const count = rows.length; // more rows may be added while this loop yields
    const rowsAtOnce = Math.ceil(MULTIPLICATIONS_AT_ONCE / query.length);
    const best = new Best(maxResults);
    for (let position = 0; position < count; position++) {
      if (position > 0 && position % rowsAtOnce === 0) await nextTurn();
      best.offer(position, cosine(vectors, position * query.length, query));
    }
    return best.inOrder().flatMap(({ position, score }) => {
      const row = rows[position];
      return row === undefined ? [] : [{ ...row, score }];
    });
  }

  async list(scope: string): Promise<readonly StoredVector[]> {
    return [...(this.#indexes.get(scope)?.rows ?? [])];
  }

  async delete(scope: string, ids: readonly string[]): Promise<void> {
    const index = this.#indexes.get(scope);
    const dimensions = this.#dimensions;
    if (index === undefined || dimensions === undefined) return;
    const gone = new Set(ids);
    const rows = index.rows.filter(({ id }) => !gone.has(id));
    if (rows.length === index.rows.length) return;
    this.#changed(scope);
    if (rows.length === 0) this.#indexes.delete(scope);
    else
      this.#indexes.set(scope, {
        rows,
        vectors: stayingVectors(index, gone, rows.length, dimensions),
      });
  }

  #changed(scope: string): void {
    this.#versions.set(scope, this.versionOf(scope) + 1);
  }

  #checkLength(vector: readonly number[], operation: string, scope: string): void {
    this.#dimensions ??= vector.length;
    if (vector.length === this.#dimensions) return;
    throw new MemoryStoreError(
      `A vector of ${vector.length} numbers does not fit this store, whose vectors have ${this.#dimensions}`,
      { operation, scope },
    );
  }
}
