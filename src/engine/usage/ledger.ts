import type { UsageRecord } from "../../contracts/usage.js";

/** All model calls of a run, and of the runs that joined it. */
export class Ledger {
  readonly records: UsageRecord[] = [];
  constructor(readonly parent: Ledger | undefined) {}

  add(record: UsageRecord): void {
    this.records.push(record);
    this.parent?.add(record);
  }
}
