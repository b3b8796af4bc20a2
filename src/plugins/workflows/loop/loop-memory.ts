import type { Loop } from "../../../contracts/loop.js";
import type { MemoryStore } from "../../../contracts/memory.js";
import type { Run } from "../../../contracts/run.js";

import { keepLastEntries } from "../../../contracts/memory-scope.js";
import { MemoryStoreError } from "../../../contracts/state-errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { askOutside } from "../../../contracts/outside.js";
import { messageOf } from "../../../util/errors.js";

/** Prepares the scopes of a loop's tasks for each further iteration. */
export class LoopMemory {
  readonly #scopes: ReadonlySet<string>;
  readonly #store: MemoryStore | undefined;

  constructor(
    readonly loop: Loop,
    readonly run: Run,
  ) {
    const isUsed = loop.memoryMode !== "ACCUMULATE";
    this.#scopes = new Set(
      isUsed ? loop.tasks.flatMap((task) => task.memory.map((scope) => scope.inRun(run).name)) : [],
    );
    this.#store = isUsed ? run.find(Tokens.MemoryStore) : undefined;
  }

  /** Warns about a mode that has no effect. */
  check(): void {
    const { name, memoryMode } = this.loop;
    if (memoryMode === "ACCUMULATE" || (this.#scopes.size > 0 && this.#store !== undefined)) return;
    const missing =
      this.#scopes.size === 0 ? "none of its tasks declares memory" : "there is no memory store";
    this.run.emit({
      type: "run_warning",
      message: `Loop '${name}': memoryMode ${memoryMode} has no effect, because ${missing}`,
    });
  }

  /**
   * Clears or trims the scopes.
   * @throws MemoryStoreError if the store does not support it. With `memoryErrors: "warn"` the loop
   * continues instead.
   */
  async prepare(): Promise<void> {
    if (this.#store === undefined) return;
    for (const scope of this.#scopes) {
      this.run.signal.throwIfAborted();
      try {
        await this.#apply(this.#store, scope);
      } catch (error) {
        const failure = this.#failure(this.#store, scope, error);
        if (this.run.signal.aborted || this.run.plan.options.memoryErrors !== "warn") throw failure;
        this.run.emit({ type: "run_warning", message: failure.message });
      }
    }
  }

  #apply(store: MemoryStore, scope: string): Promise<void> {
    const { memoryWindowSize } = this.loop;
    return askOutside({ run: this.run, kind: "change", name: `loop:${scope}` }, () =>
      memoryWindowSize === undefined
        ? store.clear(scope)
        : store.evict(scope, keepLastEntries(memoryWindowSize)),
    );
  }

  #failure(store: MemoryStore, scope: string, error: unknown): MemoryStoreError {
    const { name, memoryMode } = this.loop;
    const operation = memoryMode === "WINDOW" ? "evict" : "clear";
    const kind = store.constructor?.name ?? "Object"; // an object without a prototype has none
    return new MemoryStoreError(
      `Loop '${name}': memoryMode ${memoryMode} can't ${operation} scope '${scope}' of ${kind}: ${messageOf(error)}`,
      { operation, scope },
      {
        cause: error,
        hint: "Use a store that can, MemoryStore.inMemory() for instance, or memoryMode ACCUMULATE.",
      },
    );
  }
}
