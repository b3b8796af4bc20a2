import type { After, Answer, MemoryWrite } from "../../../contracts/hooks.js";
import type { MemoryEntry } from "../../../contracts/memory.js";
import type { RunJournal } from "./run-journal.js";
import type { TaskStates } from "./task-states.js";
import { answer } from "../../../contracts/hooks.js";
import { MEMORY_METADATA } from "../../../contracts/memory.js";
import { Tokens } from "../../../contracts/tokens.js";
import { shortHash } from "./definition.js";

/** Number of the latest entries of a scope that are compared with an earlier write. */
const LOOKED_AT = 50;
const ORIGIN = [MEMORY_METADATA.runId, MEMORY_METADATA.taskId, MEMORY_METADATA.attempt];

/** Skips the memory writes that an earlier execution of the run made, and records the others. */
export class MemorySteps {
  readonly #counts = new Map<string, number>();
  /** Writes in progress, by written entry. */
  readonly #keys = new WeakMap<MemoryEntry, string>();

  constructor(
    readonly journal: RunJournal,
    readonly tasks: TaskStates,
    /** The checked stores of this kernel. */
    readonly checked: WeakSet<object>,
  ) {}

  /** Answers a write that was already made. */
  async answer(call: MemoryWrite): Promise<void | Answer<MemoryEntry>> {
    this.#checkStore(call);
    const { key, count } = this.#nextKey(call);
    this.#keys.set(call.entry, key);
    const isKnown = this.journal.index.get(key) !== undefined;
    return isKnown || (await this.#isStored(call, count)) ? answer(call.entry) : undefined;
  }

  async settle(call: After<MemoryWrite, "entry", MemoryEntry>): Promise<void> {
    if (call.outcome !== "ok" && call.outcome !== "answered") return;
    const key = this.#keys.get(call.entry);
    if (key === undefined || this.journal.index.get(key) !== undefined) return;
    const task = this.#place(call);
    await this.journal.writeStep({ key, kind: "memory", task, value: {} });
  }

  /** Warns once in a kernel if the journal outlives the process and the memory store does not. */
  #checkStore({ run, scope }: MemoryWrite): void {
    const store = run.find(Tokens.MemoryStore);
    if (store === undefined || this.checked.has(store)) return;
    this.checked.add(store);
    if (this.journal.isVolatile || store.isVolatile !== true) return;
    run.warn(
      `Memory scope '${scope}' is in a store that is empty in a new process: a run that is resumed there does not find its entries. Use a MemoryStore on files or a database.`,
    );
  }

  /**
   * Returns whether an earlier execution wrote the entry to the store and ended before it recorded
   * the write.
   */
  async #isStored(call: MemoryWrite, count: number): Promise<boolean> {
    const { run, scope, entry } = call;
    if (!this.journal.hasEntries) return false;
    const found = await run.find(Tokens.MemoryStore)?.retrieve(scope, "", LOOKED_AT);
    const same = (found ?? []).filter(
      ({ content, metadata }) =>
        content === entry.content &&
        ORIGIN.every((name) => metadata?.[name] === entry.metadata?.[name]),
    );
    return same.length >= count;
  }

  /**
   * Returns the key of a write. A write is identified by its content. A repeated content gets a
   * number.
   */
  #nextKey(call: MemoryWrite): { readonly key: string; readonly count: number } {
    const { content } = call.entry;
    const text = call.run.redact(content);
    const base = `W:${this.#place(call)}/${call.scope}/${shortHash(text)}`;
    const count = (this.#counts.get(base) ?? 0) + 1;
    this.#counts.set(base, count);
    return { key: count === 1 ? base : `${base}~${count}`, count };
  }

  #place({ taskId, attempt }: MemoryWrite): string {
    return this.tasks.placeOf(taskId, attempt);
  }
}
