import type { ScopeChange, ScopeTable } from "./scope-table.js";
import type { WriteLog } from "./write-log.js";

import { changeLine, storeLine } from "./record.js";
import { toError } from "../../../util/errors.js";

/**
 * Maximum number of changes per batch. A batch is encoded without yielding. The next batch starts
 * immediately.
 */
const BATCH_CHANGES = 1_000;
const BATCH_CHARACTERS = 4 << 20;

/** The change to make for the current table. `undefined` if there is nothing to change. */
export type PlannedChange =
  { readonly change: ScopeChange; readonly json?: string | undefined } | undefined;

/** A change in the queue. */
export interface WaitingChange {
  readonly operation: string;
  readonly scope: string;
  /** Number of characters of the entry, if there is one. */
  readonly size: number;
  /** Plans the change. An error rejects this change only. */
  plan(table: ScopeTable): PlannedChange;
  /** Called with the version of the scope after the change. */
  resolve(version: number): void;
  reject(error: Error): void;
}

/** Writes changes in order. All waiting changes share one write to disk. */
export class CommitQueue {
  readonly #open: () => Promise<WriteLog>;
  readonly #explain: (error: unknown, change: WaitingChange) => Error;
  /** Called after each batch, when its writers have been notified. Must not reject. */
  readonly #afterCommit: (log: WriteLog) => Promise<void>;
  #waiting: WaitingChange[] = [];
  #draining: Promise<void> | undefined;

  constructor(
    open: () => Promise<WriteLog>,
    explain: (error: unknown, change: WaitingChange) => Error,
    afterCommit: (log: WriteLog) => Promise<void>,
  ) {
    this.#open = open;
    this.#explain = explain;
    this.#afterCommit = afterCommit;
  }

  add(change: WaitingChange): void {
    this.#waiting.push(change);
    this.#draining ??= this.#drain();
  }

  /** Resolves when the queue is empty. Never rejects. */
  async idle(): Promise<void> {
    await this.#draining;
  }

  async #drain(): Promise<void> {
    await Promise.resolve(); // lets further changes of this turn join the batch
    while (this.#waiting.length > 0) {
      let log: WriteLog;
      try {
        log = await this.#open();
      } catch (error) {
        for (const change of this.#waiting.splice(0)) change.reject(this.#explain(error, change));
        continue;
      }
      await this.#commit(log, this.#nextBatch());
      await this.#afterCommit(log);
    }
    this.#draining = undefined;
  }

  #nextBatch(): readonly WaitingChange[] {
    let count = 0;
    for (
      let characters = 0;
      count < Math.min(this.#waiting.length, BATCH_CHANGES) && characters < BATCH_CHARACTERS;
      count++
    ) {
      characters += this.#waiting[count]?.size ?? 0;
    }
    return this.#waiting.splice(0, count);
  }

  async #commit(log: WriteLog, batch: readonly WaitingChange[]): Promise<void> {
    const draft = log.table.draft();
    const done: (readonly [WaitingChange, number])[] = [];
    let text = "";
    for (const waiting of batch) {
      try {
        const planned = waiting.plan(draft);
        if (planned !== undefined) text += applied(planned, draft);
        done.push([waiting, draft.view(waiting.scope).version]);
      } catch (error) {
        waiting.reject(toError(error));
      }
    }
    try {
      if (text !== "") await log.append(text);
    } catch (error) {
      for (const [waiting] of done) waiting.reject(this.#explain(error, waiting));
      return;
    }
    log.table.commit(draft);
    for (const [waiting, version] of done) waiting.resolve(version);
  }
}

/** Applies the change to the draft. Returns its line. */
function applied({ change, json }: NonNullable<PlannedChange>, draft: ScopeTable): string {
  if (change.op !== "store") {
    draft.apply(change);
    return changeLine(change);
  }
  const line = storeLine(change.scope, change.version, json ?? "");
  draft.apply({ ...change, bytes: Buffer.byteLength(line) });
  return line;
}
