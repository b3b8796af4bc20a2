import type { JournalEntryKind, KeptEntry } from "../../../contracts/journal.js";
import { asFields, asList } from "../../../util/objects.js";
import { SHARED_PARTS } from "./definition.js";

/** An entry, and whether it matches the current request. */
export interface FoundEntry {
  readonly entry: KeptEntry;
  readonly isSame: boolean;
}

/** Kinds of entries that are read only before the output of their task is answered. */
const ANSWERED_ONCE: ReadonlySet<JournalEntryKind> = new Set(["task", "call", "tool", "intent"]);

/** The entries of earlier executions, by key and by task. */
export class EntryIndex {
  readonly #byKey = new Map<string, KeptEntry>();
  readonly #byTask = new Map<string, readonly KeptEntry[]>();
  readonly #asked = new Set<string>();

  constructor(entries: readonly KeptEntry[]) {
    const parts = new Map<string, unknown>();
    for (const entry of entries) {
      if (entry.kind === "redo") continue;
      if (entry.kind === "task") shareDefinition(entry, parts);
      this.#byKey.set(entry.key, entry);
      // This class created the array.
      const ofTask = this.#byTask.get(entry.task) as KeptEntry[] | undefined;
      if (ofTask === undefined) this.#byTask.set(entry.task, [entry]);
      else ofTask.push(entry);
    }
  }

  /** The entries that were not requested. */
  get unasked(): readonly KeptEntry[] {
    return [...this.#byKey.values()].filter(({ key }) => !this.#asked.has(key));
  }

  /** Returns an entry whose content needs no comparison. */
  get(key: string): KeptEntry | undefined {
    const entry = this.#byKey.get(key);
    if (entry !== undefined) this.#asked.add(key);
    return entry;
  }

  /** Returns the entry with this key. It counts as requested if it matches the current request. */
  find(key: string, isSame: (entry: KeptEntry) => boolean): FoundEntry | undefined {
    const entry = this.#byKey.get(key);
    if (entry === undefined) return undefined;
    if (!isSame(entry)) return { entry, isSame: false };
    this.#asked.add(key);
    return { entry, isSame: true };
  }

  /** Marks an entry as used even though it differs. */
  use({ key }: KeptEntry): void {
    this.#asked.add(key);
  }

  /** Returns an entry of a task that `fits` accepts and that was not requested. */
  unaskedOf(task: string, fits: (entry: KeptEntry) => boolean): KeptEntry | undefined {
    const entry = this.ofTask(task).find((known) => !this.#asked.has(known.key) && fits(known));
    if (entry !== undefined) this.#asked.add(entry.key);
    return entry;
  }

  ofTask(task: string): readonly KeptEntry[] {
    return this.#byTask.get(task) ?? [];
  }

  /** Marks all entries of a task as requested, because its output covers them. */
  askAll(task: string): void {
    for (const { key } of this.ofTask(task)) this.#asked.add(key);
  }

  /**
   * Like {@link askAll}. Also drops the entries that no later step of the task requests, so that a
   * long run needs little memory.
   */
  release(task: string): void {
    this.askAll(task);
    const entries = this.ofTask(task);
    const left = entries.filter(({ kind }) => !ANSWERED_ONCE.has(kind));
    for (const { key, kind } of entries)
      if (ANSWERED_ONCE.has(kind)) {
        this.#byKey.delete(key);
        this.#asked.delete(key);
      }
    if (left.length === 0) this.#byTask.delete(task);
    else this.#byTask.set(task, left);
  }

  /**
   * Called when a task is executed again. Drops its unrequested entries. Returns the dropped and
   * the remaining entries.
   */
  redo(task: string): { readonly kept: readonly KeptEntry[]; readonly void: readonly KeptEntry[] } {
    const entries = this.ofTask(task);
    const kept = entries.filter(({ key }) => this.#asked.has(key));
    const gone = entries.filter(({ key }) => !this.#asked.has(key));
    for (const { key } of gone) this.#byKey.delete(key);
    this.#byTask.set(task, kept);
    return { kept, void: gone };
  }
}

/**
 * Stores parts that several task definitions share, such as the agent, only once. The entries of a
 * long run then need less memory.
 */
function shareDefinition({ value }: KeptEntry, known: Map<string, unknown>): void {
  const definition = asFields(asFields(value)?.["definition"]) ?? {};
  if (Object.isFrozen(definition)) return;
  for (const name of SHARED_PARTS) {
    const part = definition[name];
    const [hash] = asList(part);
    if (typeof hash !== "string") continue;
    const key = `${name} ${hash}`;
    if (known.has(key)) (definition as Record<string, unknown>)[name] = known.get(key);
    else known.set(key, part);
  }
}
