import type { JournalEntry, JournalEntryKind } from "../../../../contracts/journal.js";

/** The state of a stored entry. */
interface KnownEntry {
  readonly kind: JournalEntryKind;
  readonly task: string;
}

/** The keys of the entries of a run, and the effect of a new entry on them. */
export class EntryTable {
  readonly #known = new Map<string, KnownEntry>();
  #finished = 0;

  /** Tasks with an accepted output. */
  get finished(): number {
    return this.#finished;
  }

  /**
   * Adds an entry. With `replaces`, also adds an entry whose key is known. Returns the keys of the
   * entries to remove and a function that undoes the change. Returns `undefined` if the key is
   * known and the entry changes nothing.
   */
  take(
    { key, kind, task }: Pick<JournalEntry, "key" | "kind" | "task">,
    replaces = false,
  ): { readonly gone: readonly string[]; undo(): void } | undefined {
    const known = this.#known.get(key);
    if (known !== undefined && known.kind !== "intent" && !replaces) return undefined;
    const before = [...(known === undefined ? [] : [[key, known] as const])];
    if (kind === "redo")
      for (const [other, entry] of this.#known)
        if (entry.task === task && other !== key) before.push([other, entry]);
    for (const [gone] of before) this.#remove(gone);
    this.#add(key, { kind, task });
    const undo = (): void => {
      this.#remove(key);
      for (const [gone, entry] of before) this.#add(gone, entry);
    };
    return { gone: before.map(([gone]) => gone), undo };
  }

  #add(key: string, entry: KnownEntry): void {
    this.#known.set(key, { kind: entry.kind, task: entry.task });
    if (entry.kind === "task") this.#finished++;
  }

  #remove(key: string): void {
    if (this.#known.get(key)?.kind === "task") this.#finished--;
    this.#known.delete(key);
  }
}
