import type { KeptEntry } from "../../../contracts/journal.js";

/** An entry that was found, and whether it answers what is asked now. */
export interface FoundEntry {
  readonly entry: KeptEntry;
  readonly isSame: boolean;
}

/** What earlier executions have left, by key. A task that was redone has a generation: its newer entries have `#{n}` behind the place of the task. */
export class EntryIndex {
  readonly #byKey = new Map<string, KeptEntry>();
  readonly #generations = new Map<string, number>();
  readonly #byTask = new Map<string, KeptEntry[]>();
  readonly #asked = new Set<string>();

  constructor(entries: readonly KeptEntry[]) {
    for (const entry of entries) {
      this.#byKey.set(entry.key, entry);
      if (entry.kind === "redo") this.#redone(entry.task);
      const ofTask = this.#byTask.get(entry.task);
      if (ofTask === undefined) this.#byTask.set(entry.task, [entry]);
      else ofTask.push(entry);
    }
  }

  get size(): number {
    return this.#byKey.size;
  }

  get entries(): Iterable<KeptEntry> {
    return this.#byKey.values();
  }

  /** How the entries of a task are named now. */
  placeOf(task: string): string {
    return placeIn(task, this.#generations.get(task) ?? 0);
  }

  /** The entries of a task are void from here on. Returns the number of its generation. */
  redo(task: string): number {
    return this.#redone(task);
  }

  /** An entry whose content needs no comparison. */
  get(key: string): KeptEntry | undefined {
    const entry = this.#byKey.get(key);
    if (entry !== undefined) this.#asked.add(key);
    return entry;
  }

  /**
   * The newest entry of a task that is the same as what is asked for now, else the present one, which differs. Entries of older generations count only where
   * they are the same.
   */
  find(
    task: string,
    keyOf: (place: string) => string,
    isSame: (entry: KeptEntry) => boolean,
  ): FoundEntry | undefined {
    const generation = this.#generations.get(task) ?? 0;
    let other: KeptEntry | undefined;
    for (let n = generation; n >= 0; n--) {
      const entry = this.#byKey.get(keyOf(placeIn(task, n)));
      if (entry === undefined) continue;
      if (isSame(entry)) {
        this.#asked.add(entry.key);
        return { entry, isSame: true };
      }
      if (n === generation) other = entry;
    }
    return other === undefined ? undefined : { entry: other, isSame: false };
  }

  /** The entry answers although it differs. */
  use({ key }: KeptEntry): void {
    this.#asked.add(key);
  }

  /** An entry of a task that fits and that nobody has asked for. */
  unaskedOf(task: string, fits: (entry: KeptEntry) => boolean): KeptEntry | undefined {
    const entry = this.ofTask(this.placeOf(task)).find(
      (known) => !this.#asked.has(known.key) && fits(known),
    );
    if (entry !== undefined) this.#asked.add(entry.key);
    return entry;
  }

  /** The entries that bear the place of a task. */
  ofTask(place: string): readonly KeptEntry[] {
    return this.#byTask.get(place) ?? [];
  }

  wasAsked(key: string): boolean {
    return this.#asked.has(key);
  }

  /** All entries of a task count as asked for: its output answers for them. */
  askAll(task: string): void {
    for (const { key } of this.ofTask(task)) this.#asked.add(key);
  }

  #redone(task: string): number {
    const generation = (this.#generations.get(task) ?? 0) + 1;
    this.#generations.set(task, generation);
    return generation;
  }
}

function placeIn(task: string, generation: number): string {
  return generation === 0 ? task : `${task}#${generation}`;
}
