import type { UsageRecord } from "../../contracts/usage.js";
import type { RunEvents } from "../run/run-events.js";
import { AgentEnsembleError } from "../../contracts/errors.js";
import { messageOf } from "../../util/errors.js";

/** Facts about a call that are not in its usage record. */
interface CallFacts {
  readonly iteration?: number | undefined;
  readonly error?: unknown;
}

/** All model calls of a run, and of the runs that joined it. */
export class Ledger {
  readonly records: UsageRecord[] = [];
  constructor(
    readonly parent: Ledger | undefined,
    /** Events of this run. Each record is emitted once, in the run that made the call. */
    readonly events?: RunEvents,
    /** The task that started the run. */
    readonly caller?: UsageRecord["caller"],
  ) {}

  add(made: UsageRecord, { iteration, error }: CallFacts = {}): void {
    const record = this.caller === undefined ? made : { ...made, caller: this.caller };
    this.#keep(record);
    if (this.events?.listens("usage_recorded") !== true) return;
    this.events.emit({
      type: "usage_recorded",
      ...record,
      latencyMs: Math.round(record.latencyMs),
      ...(iteration !== undefined && { iteration }),
      ...(error !== undefined && { error: messageOf(error) }),
      ...(AgentEnsembleError.isInstance(error) && { errorCode: error.code }),
    });
  }

  #keep(record: UsageRecord): void {
    this.records.push(record);
    if (this.parent !== undefined) this.parent.#keep(record);
  }
}
